/** News of the workspace: which nouns have changed, and how. */
import { onChange } from './tab-stream.ts'

export type WorkspaceNews =
  | { kind: 'changed'; noun: string; id: string; object: object }
  | { kind: 'deleted'; noun: string; id: string }
  /** News were missed: read again. */
  | { kind: 'missed' }

/** Calls until the signal aborts. */
export function followWorkspace(onNews: (news: WorkspaceNews) => void, signal: AbortSignal): void {
  onChange(({ type, id = '', object, ...data }) => {
    const noun = 'noun' in data && typeof data.noun === 'string' ? data.noun : ''
    if (type === 'stream.reset') onNews({ kind: 'missed' })
    else if (type === 'stream.deleted') onNews({ kind: 'deleted', noun, id })
    else if (type === 'stream.changed' && object) onNews({ kind: 'changed', noun, id, object })
  }, signal)
}
