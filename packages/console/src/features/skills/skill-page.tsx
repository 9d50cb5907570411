/** A skill: what it says, and what its versions changed. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Ask, removeQuestion } from '../../components/ask.tsx'
import { ButtonLink } from '../../components/button-link.tsx'
import { Id } from '../../components/figures.tsx'
import { Badge, Quiet, ToolLine, WhereWide } from '../../components/layout.tsx'
import { MoreMenu } from '../../components/more-menu.tsx'
import { Empty } from '../../components/notices.tsx'
import { Page } from '../../components/page.tsx'
import { Missing, RecordPage } from '../../components/record-page.tsx'
import { Tabs } from '../../components/tabs.tsx'
import type { ListedSkill } from '../../lib/api/types.ts'
import { listStateOf } from '../../lib/list-state.ts'
import { useReadOnlyReason } from '../../lib/rights.ts'
import { SkillFiles } from './skill-files.tsx'
import { SkillVersions } from './skill-versions.tsx'
import { skillQuery, skillVersionsQuery, useSkillDelete } from './skills.ts'
import { sourceOf } from './upload.ts'
import { skillTabs } from './tabs.ts'
import { skillWords as own } from './words.ts'

/** What of a skill is shown; it stands in the address. */
type SkillView = {
  tab?: (typeof skillTabs)[number] | undefined
  version?: string | undefined
  file?: string | undefined
}

type SkillPageProps = {
  id: string
  view: SkillView
  onView: (view: SkillView) => void
  onDeleted: () => void
}

export const SkillPage = (props: SkillPageProps) => (
  <RecordPage
    title={own.title}
    crumbs={<Link to="/skills">{own.title}</Link>}
    query={useQuery(skillQuery(props.id))}
  >
    {(skill) => <OpenSkill {...props} skill={skill} />}
  </RecordPage>
)

function OpenSkill({ skill, view, onView, onDeleted }: SkillPageProps & { skill: ListedSkill }) {
  const { tab = 'files', version, file } = view
  const list = listStateOf(useInfiniteQuery(skillVersionsQuery(skill.id)))
  const isBuiltin = sourceOf(skill) === 'anthropic'
  const readOnly = useReadOnlyReason()
  const offBecause = isBuiltin ? own.isBuiltin : readOnly
  return (
    <Page
      title={skill.display_title || skill.name}
      crumbs={<Link to="/skills">{own.title}</Link>}
      beside={
        <WhereWide>
          <Badge>{isBuiltin ? own.builtin : own.custom}</Badge>
          <Id of={skill.id} />
        </WhereWide>
      }
      actions={
        <>
          <SkillActions skill={skill} offBecause={offBecause} onDeleted={onDeleted} />
          {!isBuiltin && (
            <ButtonLink kind="primary" to="/skills/$skillId/new" params={{ skillId: skill.id }}>
              {own.newVersion}
            </ButtonLink>
          )}
        </>
      }
    >
      <Tabs
        label={own.views}
        tabs={skillTabs.map((name) => ({ name, label: own.tabs[name] }))}
        chosen={tab}
        onChoose={(next) => onView({ tab: next, version })}
      />
      <ToolLine>
        <Quiet>{skill.description}</Quiet>
      </ToolLine>
      {!list.rows ? (
        <Missing error={list.error} refetch={list.again} />
      ) : list.rows.length === 0 ? (
        <Empty>{own.noVersion}</Empty>
      ) : tab === 'files' ? (
        <SkillFiles
          versions={list.rows}
          version={version}
          file={file}
          onVersion={(next) => onView({ version: next, file })}
          onFile={(next) => onView({ version, file: next })}
        />
      ) : (
        <SkillVersions
          list={list}
          chosen={version}
          file={file}
          offBecause={offBecause}
          onChoose={(next) => onView({ tab, version: next, file })}
          onFile={(next) => onView({ tab, version, file: next })}
          onFiles={(next) => onView({ version: next })}
        />
      )}
    </Page>
  )
}

function SkillActions({
  skill,
  offBecause,
  onDeleted,
}: {
  skill: ListedSkill
  offBecause: string | undefined
  onDeleted: () => void
}) {
  const [isAsking, setAsking] = useState(false)
  const remove = useSkillDelete(skill.id)
  return (
    <>
      <MoreMenu
        items={[{ label: own.remove, isDanger: true, offBecause, run: () => setAsking(true) }]}
      />
      {isAsking && (
        <Ask
          question={removeQuestion(own, skill.display_title || skill.name)}
          isBusy={remove.isPending}
          error={remove.error}
          run={(onSuccess) => remove.mutate(undefined, { onSuccess })}
          onDone={onDeleted}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  )
}
