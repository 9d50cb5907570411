import type { Frame } from '@steward/harness/turn.ts'
import type { Bus } from '../bus/bus.ts'
import type { Queries } from '../database/database.ts'
import type { EventRow, WireEvent } from './log.ts'
import { readEvents } from './log.ts'
import type { Heard } from './topics.ts'
import { hear } from './topics.ts'

/** Kept events come in order and all of them; what is live only may be missing. */
export type Tailed =
  | { kind: 'kept'; row: EventRow }
  | { kind: 'frame'; frame: Frame }
  | { kind: 'queued'; event: WireEvent }
  | { kind: 'promoted'; id: string }

/** Live words that may wait for a slow reader before they are dropped. */
const mostWaiting = 1_000
const pageSize = 200

/**
 * Everything after `after`, then whatever comes, until aborted. The bus only rings: what is kept is always read
 * from the log, so there is no seam between past and present, nothing twice and nothing lost. It listens from the
 * moment of the call; whoever calls must iterate, or return, what it gives.
 */
export function tail(
  { read, bus }: { read: Queries; bus: Bus },
  tenant: string,
  sessionId: string,
  { after, extensions, signal }: { after: number; extensions: boolean; signal: AbortSignal },
): AsyncGenerator<Tailed> {
  const heard: Heard[] = [{ kind: 'ring' }]
  const shed = new Set<string>()
  let wake = () => {}
  let seen = after
  const quiet = hear(bus, sessionId, (word) => {
    if (word.kind === 'ring' ? heard.at(-1)?.kind !== 'ring' : heard.length < mostWaiting)
      heard.push(word)
    else if (word.kind === 'frames') for (const { id } of word.frames) shed.add(id)
    wake()
  })
  const stop = () => wake()
  signal.addEventListener('abort', stop, { once: true })
  const leave = () => {
    signal.removeEventListener('abort', stop)
    quiet()
  }

  async function* newRows(): AsyncGenerator<Tailed> {
    for (;;) {
      const rows = await readEvents(read, tenant, sessionId, {
        after: seen,
        limit: pageSize,
        extensions,
      })
      for (const row of rows) {
        seen = row.seq
        shed.delete(row.id)
        yield { kind: 'kept', row }
      }
      if (rows.length < pageSize || signal.aborted) return
    }
  }

  async function* words(): AsyncGenerator<Tailed> {
    try {
      while (!signal.aborted) {
        const next = heard.shift()
        if (!next) await new Promise<void>((resolve) => (wake = resolve))
        else if (next.kind === 'ring') yield* newRows()
        else yield* spread(next, shed)
      }
    } finally {
      leave()
    }
  }

  const given = words()
  const end = given.return.bind(given)
  // A generator that was never begun runs no `finally`.
  given.return = (value) => {
    leave()
    return end(value)
  }
  return given
}

/** What lost a piece says no more until its event is whole: shown pieces always join to a prefix of it. */
function* spread(word: Exclude<Heard, { kind: 'ring' }>, shed: Set<string>): Generator<Tailed> {
  if (word.kind === 'frames') {
    for (const frame of word.frames) {
      if (!shed.has(frame.id) || frame.kind === 'end') yield { kind: 'frame', frame }
      if (frame.kind === 'end') shed.delete(frame.id)
    }
  } else if (word.kind === 'queued')
    for (const event of word.events) yield { kind: 'queued', event }
  else if (word.kind === 'promoted') for (const id of word.ids) yield { kind: 'promoted', id }
}
