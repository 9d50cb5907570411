/** What a form of a memory sends: only what differs, and the text that was read, so that nobody is overwritten. */
import type { Memory, MemoryUpdateBody } from '../../lib/api/types.ts'

export type MemoryDraft = { path: string; content: string }

export const memoryFields = ['path', 'content']

export const memoryDraftOf = ({ path, content }: Memory): MemoryDraft => ({
  path,
  content: content ?? '',
})

/** Undefined where nothing differs from the memory that was read. */
export function updateOf(read: Memory, draft: MemoryDraft): MemoryUpdateBody | undefined {
  const path = draft.path.trim()
  const changes = {
    ...(path !== read.path && { path }),
    ...(draft.content !== read.content && { content: draft.content }),
  }
  if (Object.keys(changes).length === 0) return undefined
  const { content_sha256 } = read
  return { ...changes, precondition: { type: 'content_sha256', content_sha256 } }
}
