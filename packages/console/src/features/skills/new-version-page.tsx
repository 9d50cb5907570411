/** Another version of a skill. Where it is SKILL.md alone, that can be written here. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../components/button.tsx'
import { Fields, FormBar, FormPanes } from '../../components/form-page.tsx'
import { Problem, Quiet } from '../../components/layout.tsx'
import { Page } from '../../components/page.tsx'
import { Missing } from '../../components/record-page.tsx'
import { RequestView } from '../../components/request-view.tsx'
import { problemsOf } from '../../lib/api/problems.ts'
import type { SkillVersion } from '../../lib/api/types.ts'
import { listStateOf } from '../../lib/list-state.ts'
import { useReadOnlyReason } from '../../lib/rights.ts'
import { say } from '../../lib/toasts.ts'
import { skillFileQuery, skillQuery, skillVersionsQuery, useVersionCreate } from './skills.ts'
import { newUpload, UploadFields, uploadFields, whatIsMissing } from './upload-form.tsx'
import type { SkillUpload } from './upload.ts'
import { uploadCall } from './upload.ts'
import { skillWords, uploadWords as own } from './words.ts'

type NewVersionPageProps = { skill: string; onMade: (version: SkillVersion) => void }

export function NewVersionPage(props: NewVersionPageProps) {
  const { data: skill } = useQuery(skillQuery(props.skill))
  const list = listStateOf(useInfiniteQuery(skillVersionsQuery(props.skill)))
  return (
    <Page
      title={own.versionTitle}
      crumbs={
        <>
          <Link to="/skills">{skillWords.title}</Link>
          <span aria-hidden="true">/</span>
          <Link to="/skills/$skillId" params={{ skillId: props.skill }}>
            {skill?.display_title || skill?.name || props.skill}
          </Link>
        </>
      }
    >
      {list.rows ? (
        <WithLatest {...props} latest={list.rows[0]} />
      ) : (
        <Missing error={list.error} refetch={list.again} />
      )}
    </Page>
  )
}

/** Waits for the text that the form begins with. */
function WithLatest({
  latest,
  ...props
}: NewVersionPageProps & { latest: SkillVersion | undefined }) {
  const isText = latest?.files.length === 1
  if (!latest || !isText) return <VersionForm {...props} begin={{ ...newUpload, by: 'folder' }} />
  return <WithText {...props} latest={latest} />
}

function WithText({ latest, ...props }: NewVersionPageProps & { latest: SkillVersion }) {
  const { data, error, refetch } = useQuery(skillFileQuery(latest, 'SKILL.md'))
  if (!data) return <Missing error={error} refetch={refetch} />
  return <VersionForm {...props} begin={{ ...newUpload, text: data.text ?? '' }} />
}

function VersionForm({ skill, begin, onMade }: NewVersionPageProps & { begin: SkillUpload }) {
  const [upload, setUpload] = useState(begin)
  const create = useVersionCreate(skill)
  const readOnly = useReadOnlyReason()
  const { fields, rest } = problemsOf(create.error, uploadFields)
  const change = (next: SkillUpload) => {
    create.reset()
    setUpload(next)
  }
  const missing = whatIsMissing(upload)
  return (
    <FormPanes
      refusal={create.error}
      form={
        <Fields>
          <UploadFields
            upload={upload}
            onUpload={change}
            fields={fields}
            noText={begin.by === 'text' ? undefined : own.hasMore}
          />
          <Quiet>{own.keepsName}</Quiet>
        </Fields>
      }
      beside={
        <>
          <RequestView call={uploadCall(upload, `/v1/skills/${skill}/versions`)} />
          <FormBar
            actions={
              <Button
                kind="primary"
                offBecause={readOnly ?? missing}
                isBusy={create.isPending}
                onClick={() =>
                  create.mutate(upload, {
                    onSuccess: (version) => {
                      say({ kind: 'done', text: own.createdVersion(version.name) })
                      onMade(version)
                    },
                  })
                }
              >
                {own.createVersion}
              </Button>
            }
          >
            <Problem text={rest} />
          </FormBar>
        </>
      }
    />
  )
}
