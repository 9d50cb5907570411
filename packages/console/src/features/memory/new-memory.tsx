import { useState } from 'react'
import { problemsOf } from '../../lib/api/problems.ts'
import type { Memory } from '../../lib/api/types.ts'
import { useReadOnlyReason } from '../../lib/rights.ts'
import { say } from '../../lib/toasts.ts'
import { memoryFields } from './memory-draft.ts'
import { MemoryForm } from './memory-form.tsx'
import { useMemoryCreate } from './memory.ts'
import { memoryWords as own } from './words.ts'

/** Writes a memory where none is: one that is there is not overwritten. `folder`: where its path begins. */
export function NewMemory({
  store,
  folder,
  onMade,
  onClose,
}: {
  store: string
  folder: string
  onMade: (memory: Memory) => void
  onClose: () => void
}) {
  const [draft, setDraft] = useState({ path: folder, content: '' })
  const create = useMemoryCreate(store)
  const readOnly = useReadOnlyReason()
  const { fields, rest } = problemsOf(create.error, memoryFields)
  const body = { path: draft.path.trim(), content: draft.content }
  const isWhole = body.path !== '' && !body.path.endsWith('/')
  return (
    <MemoryForm
      isNew
      draft={draft}
      onDraft={setDraft}
      fields={fields}
      problem={rest}
      verb={own.makeVerb}
      isBusy={create.isPending}
      offBecause={readOnly ?? (isWhole ? undefined : own.pathMissing)}
      call={{
        method: 'POST',
        path: `/v1/memory_stores/${store}/memories`,
        client: 'beta.memoryStores.memories.create',
        args: [store],
        body,
      }}
      onClose={onClose}
      onSubmit={() =>
        create.mutate(body, {
          onSuccess: (memory) => {
            say({ kind: 'done', text: own.made(memory.path) })
            onMade(memory)
          },
        })
      }
    />
  )
}
