/** One memory: its text, who wrote it, and a form that overwrites nobody. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Ask, removeQuestion } from '../../components/ask.tsx'
import { Button } from '../../components/button.tsx'
import { Diff } from '../../components/diff.tsx'
import { Time } from '../../components/figures.tsx'
import { Stack } from '../../components/layout.tsx'
import { Banner } from '../../components/notices.tsx'
import { PlainText } from '../../components/plain-text.tsx'
import { RecordHead } from '../../components/record-head.tsx'
import { Missing } from '../../components/record-page.tsx'
import { problemsOf } from '../../lib/api/problems.ts'
import { versionQuery } from '../../lib/api/memory-versions.ts'
import type { Memory } from '../../lib/api/types.ts'
import { isConflict } from '../../lib/failures.ts'
import { formatCount } from '../../lib/format/numbers.ts'
import { jsonOf } from '../../lib/request/api-call.ts'
import { useReadOnlyReason } from '../../lib/rights.ts'
import { say } from '../../lib/toasts.ts'
import { Actor } from './actor.tsx'
import { memoryDraftOf, memoryFields, updateOf } from './memory-draft.ts'
import { MemoryForm } from './memory-form.tsx'
import { memoryQuery, useMemoryDelete, useMemorySave } from './memory.ts'
import { memoryWords as own } from './words.ts'

type MemoryViewProps = {
  store: string
  id: string
  /** Why the store takes no changes. */
  offBecause: string | undefined
  onVersions: () => void
  onDeleted: () => void
}

export function MemoryView(props: MemoryViewProps) {
  const { data, error, refetch } = useQuery(memoryQuery(props.store, props.id))
  if (!data) return <Missing error={error} refetch={refetch} />
  return <OpenMemory {...props} memory={data} />
}

function OpenMemory({
  memory,
  offBecause,
  onVersions,
  onDeleted,
}: MemoryViewProps & { memory: Memory }) {
  const [isEditing, setEditing] = useState(false)
  const [isRemoving, setRemoving] = useState(false)
  const remove = useMemoryDelete(memory)
  const readOnly = useReadOnlyReason()
  const close = () => setRemoving(false)
  if (isEditing) return <EditMemory memory={memory} onClose={() => setEditing(false)} />
  return (
    <Stack>
      <RecordHead
        title={memory.path}
        about={<Facts memory={memory} />}
        actions={
          <>
            <Button offBecause={readOnly ?? offBecause} onClick={() => setEditing(true)}>
              {own.edit}
            </Button>
            <Button onClick={onVersions}>{own.versions}</Button>
            <Button kind="plain" offBecause={readOnly} onClick={() => setRemoving(true)}>
              {own.remove}
            </Button>
          </>
        }
      />
      <PlainText label={own.text} text={memory.content ?? ''} />
      {isRemoving && (
        <Ask
          question={removeQuestion(own, memory.path)}
          isBusy={remove.isPending}
          error={remove.error}
          run={(onSuccess) => remove.mutate(undefined, { onSuccess })}
          onClose={close}
          onDone={onDeleted}
        />
      )}
    </Stack>
  )
}

function Facts({ memory }: { memory: Memory }) {
  const { memory_store_id, memory_version_id, content_size_bytes, updated_at } = memory
  const { data: version } = useQuery(versionQuery(memory_store_id, memory_version_id))
  return (
    <>
      <span>{own.size(formatCount(content_size_bytes))}</span>
      <Time at={updated_at} />
      {version && <Actor of={version.created_by} />}
    </>
  )
}

/** What was written stays when somebody else changes the memory, and the person chooses which of the two is to stay. */
function EditMemory({ memory, onClose }: { memory: Memory; onClose: () => void }) {
  const [read, setRead] = useState(memory)
  const [draft, setDraft] = useState(() => memoryDraftOf(memory))
  const save = useMemorySave(memory)
  const isOvertaken = memory.content_sha256 !== read.content_sha256
  const problems = problemsOf(save.error, memoryFields)
  const isPathTaken = problems.fields['path'] !== undefined
  const body = updateOf(read, draft)
  const take = () => {
    save.reset()
    setRead(memory)
  }
  return (
    <Stack>
      {isOvertaken && (
        <>
          <Banner
            kind="asks"
            sign="asks"
            title={own.overtaken}
            actions={
              <>
                <Button
                  size="small"
                  onClick={() => {
                    take()
                    setDraft(memoryDraftOf(memory))
                  }}
                >
                  {own.takeTheirs}
                </Button>
                <Button size="small" onClick={take}>
                  {own.keepMine}
                </Button>
              </>
            }
          />
          <Diff title={own.theirsToYours} before={memory.content ?? ''} after={draft.content} />
        </>
      )}
      <MemoryForm
        draft={draft}
        onDraft={setDraft}
        fields={problems.fields}
        problem={isConflict(save.error) && !isPathTaken && isOvertaken ? undefined : problems.rest}
        verb={own.save}
        isBusy={save.isPending}
        offBecause={
          isOvertaken ? own.chooseFirst : body === undefined ? own.nothingDiffers : undefined
        }
        call={{
          method: 'POST',
          path: `/v1/memory_stores/${memory.memory_store_id}/memories/${memory.id}`,
          client: 'beta.memoryStores.memories.update',
          args: [memory.id],
          beside: { memory_store_id: memory.memory_store_id },
          body: jsonOf(body ?? {}),
        }}
        onClose={onClose}
        onSubmit={() =>
          body !== undefined &&
          save.mutate(body, {
            onSuccess: ({ path }) => {
              say({ kind: 'done', text: own.saved(path) })
              onClose()
            },
          })
        }
      />
    </Stack>
  )
}
