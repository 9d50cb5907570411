/** What was changed in a store, by whom and when: of all memories, or of one. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Ask } from '../../components/ask.tsx'
import { Button } from '../../components/button.tsx'
import { Diff } from '../../components/diff.tsx'
import { Id, Time } from '../../components/figures.tsx'
import { ListAndOne, ListChoice, Quiet, Row, Stack } from '../../components/layout.tsx'
import { ListFoot, MoreRows } from '../../components/list-foot.tsx'
import { Empty } from '../../components/notices.tsx'
import { RecordHead } from '../../components/record-head.tsx'
import { Missing } from '../../components/record-page.tsx'
import { previousQuery, versionQuery } from '../../lib/api/memory-versions.ts'
import type { Memory, MemoryVersion } from '../../lib/api/types.ts'
import { listStateOf } from '../../lib/list-state.ts'
import { useReadOnlyReason } from '../../lib/rights.ts'
import { say } from '../../lib/toasts.ts'
import { Actor } from './actor.tsx'
import { memoryDraftOf, updateOf } from './memory-draft.ts'
import { memoryQuery, useMemorySave, useRedaction, versionsQuery } from './memory.ts'
import { versionWords as own } from './words.ts'

type MemoryVersionsProps = {
  store: string
  /** Of this memory alone. */
  memory: string | undefined
  chosen: string | undefined
  offBecause: string | undefined
  onChoose: (version: string) => void
  /** Shows the versions of all memories. */
  onAll: () => void
  onMemory: (memory: string) => void
}

export function VersionsView(props: MemoryVersionsProps) {
  const { store, memory, chosen, offBecause, onChoose, onAll, onMemory } = props
  const list = listStateOf(useInfiniteQuery(versionsQuery(store, memory)))
  const { rows } = list
  if (!rows) return <Missing error={list.error} refetch={list.again} />
  if (rows.length === 0) return <Empty>{own.none}</Empty>
  const shown = chosen ?? rows[0]?.id
  return (
    <ListAndOne
      list={
        <>
          {memory !== undefined && (
            <ListFoot>
              <Button size="small" onClick={onAll}>
                {own.showAll}
              </Button>
            </ListFoot>
          )}
          {rows.map((each) => (
            <ListChoice
              key={each.id}
              isChosen={each.id === shown}
              onChoose={() => onChoose(each.id)}
              end={<Time at={each.created_at} />}
            >
              {own.operations[each.operation]} <Quiet>{each.path ?? own.redactedPath}</Quiet>
            </ListChoice>
          ))}
          <MoreRows list={list} />
        </>
      }
      one={
        shown && (
          <OneVersion
            key={shown}
            store={store}
            id={shown}
            offBecause={offBecause}
            onMemory={onMemory}
          />
        )
      }
    />
  )
}

type OneVersionProps = Pick<MemoryVersionsProps, 'store' | 'offBecause' | 'onMemory'> & {
  id: string
}

function OneVersion({ store, id, offBecause, onMemory }: OneVersionProps) {
  const { data: version, error, refetch } = useQuery(versionQuery(store, id))
  // Not found where it was deleted since.
  const { data: memory } = useQuery({
    ...memoryQuery(store, version?.memory_id ?? ''),
    enabled: version !== undefined,
  })
  if (!version) return <Missing error={error} refetch={refetch} />
  const isCurrent = memory?.memory_version_id === id
  return (
    <Stack>
      <RecordHead
        title={version.path ?? own.redactedPath}
        about={
          <>
            <span>{own.operations[version.operation]}</span>
            <Time at={version.created_at} />
            <Actor of={version.created_by} />
            <Id of={version.id} />
          </>
        }
        actions={
          <>
            {memory && <Button onClick={() => onMemory(memory.id)}>{own.openMemory}</Button>}
            <RedactButton version={version} isCurrent={isCurrent} />
          </>
        }
      />
      <Change store={store} version={version} />
      {memory && !isCurrent && version.content !== null && (
        <Row>
          <RestoreButton memory={memory} content={version.content} offBecause={offBecause} />
        </Row>
      )}
    </Stack>
  )
}

/** What the version changed. */
function Change({ store, version }: { store: string; version: MemoryVersion }) {
  const { data: before, error, refetch } = useQuery(previousQuery(store, version))
  if (version.redacted_at !== null)
    return (
      <p>
        {own.isRedacted}{' '}
        {version.redacted_by && (
          <Quiet>
            {own.redacted} <Time at={version.redacted_at} /> · <Actor of={version.redacted_by} />
          </Quiet>
        )}
      </p>
    )
  if (before === undefined) return <Missing error={error} refetch={refetch} />
  const isMoved = before?.path && version.path !== before.path
  return (
    <>
      {isMoved && <p>{own.movedFrom(before.path ?? '')}</p>}
      {before?.redacted_at && <Quiet>{own.beforeRedacted}</Quiet>}
      <Diff
        title={own.compare(version.path ?? '')}
        before={before?.content ?? ''}
        after={version.content ?? ''}
      />
    </>
  )
}

function RedactButton({ version, isCurrent }: { version: MemoryVersion; isCurrent: boolean }) {
  const [isAsking, setAsking] = useState(false)
  const redaction = useRedaction(version.memory_store_id)
  const readOnly = useReadOnlyReason()
  if (version.redacted_at !== null) return null
  return (
    <>
      <Button
        kind="plain"
        offBecause={readOnly ?? (isCurrent ? own.isCurrent : undefined)}
        onClick={() => setAsking(true)}
      >
        {own.redact}
      </Button>
      {isAsking && (
        <Ask
          question={{
            title: own.redactTitle,
            text: own.redactText,
            verb: own.redactVerb,
            done: own.redactedNow,
          }}
          isBusy={redaction.isPending}
          error={redaction.error}
          run={(onSuccess) => redaction.mutate(version.id, { onSuccess })}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  )
}

/** The text of an older version once more, as a version of its own. */
function RestoreButton({
  memory,
  content,
  offBecause,
}: {
  memory: Memory
  content: string
  offBecause: string | undefined
}) {
  const save = useMemorySave(memory)
  const readOnly = useReadOnlyReason()
  const body = updateOf(memory, { ...memoryDraftOf(memory), content })
  if (body === undefined) return null
  return (
    <>
      <Button
        isBusy={save.isPending}
        offBecause={readOnly ?? offBecause}
        onClick={() =>
          save.mutate(body, {
            onSuccess: ({ path }) => say({ kind: 'done', text: own.restored(path) }),
          })
        }
      >
        {own.restore}
      </Button>
      {save.error && <Quiet>{save.error.message}</Quiet>}
    </>
  )
}
