/** The versions of a skill, and what each changed, file by file. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Ask, removeQuestion } from '../../components/ask.tsx'
import { Button } from '../../components/button.tsx'
import { Diff } from '../../components/diff.tsx'
import { Id, Time } from '../../components/figures.tsx'
import { Quiet, Stack } from '../../components/layout.tsx'
import { RecordHead } from '../../components/record-head.tsx'
import { Missing } from '../../components/record-page.tsx'
import { Select } from '../../components/select.tsx'
import { VersionList } from '../../components/version-list.tsx'
import type { SkillVersion } from '../../lib/api/types.ts'
import type { ListState } from '../../lib/list-state.ts'
import { skillFileQuery, useVersionDelete } from './skills.ts'
import type { SkillFileChange } from './versions.ts'
import { chosenOf, fileChanges, versionName } from './versions.ts'
import { skillVersionWords as own } from './words.ts'

type SkillVersionsProps = {
  list: ListState<SkillVersion>
  chosen: string | undefined
  file: string | undefined
  offBecause: string | undefined
  onChoose: (version: string) => void
  onFile: (file: string) => void
  /** Shows the files of a version. */
  onFiles: (version: string) => void
}

export function SkillVersions(props: SkillVersionsProps) {
  const { list, chosen, onChoose } = props
  const { rows = [] } = list
  const { shown, before } = chosenOf(rows, chosen)
  return (
    <VersionList
      list={list}
      keyOf={({ version }) => version}
      nameOf={versionName}
      endOf={({ created_at: at }) => <Time at={at} />}
      shown={shown}
      onChoose={({ version }) => onChoose(version)}
    >
      {shown && (
        <OneSkillVersion
          {...props}
          key={shown.version}
          version={shown}
          before={before}
          isOnly={rows.length === 1}
        />
      )}
    </VersionList>
  )
}

type OneSkillVersionProps = SkillVersionsProps & {
  version: SkillVersion
  before: SkillVersion | undefined
  isOnly: boolean
}

function OneSkillVersion(props: OneSkillVersionProps) {
  const { list, version, before, isOnly, file, offBecause, onFile, onFiles } = props
  const changes = fileChanges(before, version)
  const shown = changes.find(({ name }) => name === file) ?? changes[0]
  const beside = { added: own.added, gone: own.gone, kept: '' }
  return (
    <Stack>
      <RecordHead
        title={version.version}
        about={
          <>
            <span>{versionName(version)}</span>
            <Id of={version.id} />
          </>
        }
        actions={
          <>
            <Button onClick={() => onFiles(version.version)}>{own.showFiles}</Button>
            <DeleteVersion
              version={version}
              offBecause={offBecause ?? (isOnly ? own.isLast : undefined)}
            />
          </>
        }
      />
      {!before && <Quiet>{list.more ? own.beforeIsFurther : own.first}</Quiet>}
      <Select
        label={own.file}
        choices={changes.map(({ name, is }) => ({
          value: name,
          label: name,
          beside: before ? beside[is] : '',
        }))}
        value={shown?.name ?? ''}
        onChange={onFile}
      />
      {shown && <FileDiff change={shown} before={before} after={version} />}
    </Stack>
  )
}

type FileDiffProps = {
  change: SkillFileChange
  before: SkillVersion | undefined
  after: SkillVersion
}

function FileDiff({ change: { name, is }, before, after }: FileDiffProps) {
  const [isAdded, isGone] = [is === 'added', is === 'gone']
  const old = useQuery({ ...skillFileQuery(before ?? after, name), enabled: !isAdded })
  const now = useQuery({ ...skillFileQuery(after, name), enabled: !isGone })
  const [oldText, newText] = [isAdded ? '' : old.data?.text, isGone ? '' : now.data?.text]
  if (oldText === undefined || newText === undefined) {
    const { error, refetch } = oldText === undefined ? old : now
    return <Missing error={error} refetch={refetch} />
  }
  if (oldText === null || newText === null) return <p>{own.noText}</p>
  return <Diff title={before ? own.compare(name) : name} before={oldText} after={newText} />
}

function DeleteVersion({
  version,
  offBecause,
}: {
  version: SkillVersion
  offBecause: string | undefined
}) {
  const [isAsking, setAsking] = useState(false)
  const remove = useVersionDelete(version)
  return (
    <>
      <Button kind="plain" offBecause={offBecause} onClick={() => setAsking(true)}>
        {own.remove}
      </Button>
      {isAsking && (
        <Ask
          question={removeQuestion(own, versionName(version))}
          error={remove.error}
          isBusy={remove.isPending}
          onClose={() => setAsking(false)}
          run={(onSuccess) => remove.mutate(undefined, { onSuccess })}
        />
      )}
    </>
  )
}
