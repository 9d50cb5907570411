/** What is being written, and is no event yet. */
import type { LiveSessionEvent, SessionEvent } from '../../lib/api/types.ts'
import type { FollowedValue } from '../../lib/store.ts'
import { createStore } from '../../lib/store.ts'
import { threadOf } from './moments.ts'

export type LiveAnswer = {
  id: string
  kind: 'message' | 'thinking'
  text: string
  /** Of a child thread: its id. */
  thread: string | undefined
}

const kinds = new Map<string, LiveAnswer['kind']>([
  ['agent.message', 'message'],
  ['agent.thinking', 'thinking'],
])

/** The parts of a page that show words as they come follow them alone: nothing else is drawn anew for a word. */
export type FollowedAnswers = FollowedValue<readonly LiveAnswer[]>

export function liveAnswers() {
  const store: FollowedAnswers = createStore<readonly LiveAnswer[]>([])
  let isOld = false
  const answers = new Map<string, LiveAnswer>()
  const write = (piece: LiveAnswer): void => {
    const before = answers.get(piece.id)
    isOld = true
    answers.set(piece.id, { ...piece, text: (before?.text ?? '') + piece.text })
  }
  return {
    store,
    /** Tells what has come since the last call. */
    show(): void {
      if (isOld) store.set([...answers.values()])
      isOld = false
    },
    hear(event: LiveSessionEvent): void {
      const thread = threadOf(event)
      if (event.type === 'agent.message_chunk')
        write({ id: event.message_id, kind: 'message', text: event.delta, thread })
      if (event.type === 'agent.thinking_chunk')
        write({ id: event.thinking_id, kind: 'thinking', text: event.delta, thread })
    },
    /** What was written is an event now; nothing is being written behind the end of a turn. */
    end(event: SessionEvent): void {
      const before = answers.size
      if (event.type === 'session.status_idle') answers.clear()
      const kind = kinds.get(event.type)
      const thread = threadOf(event)
      for (const [id, each] of answers)
        if (each.kind === kind && each.thread === thread) answers.delete(id)
      isOld ||= answers.size < before
    },
  }
}
