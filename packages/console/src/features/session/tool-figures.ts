/** How the tools of a session did: calls, failures, and how long they usually took. */
import type { SessionEvent } from '../../lib/api/types.ts'
import { talkOf } from './conversation.ts'

export type ToolFigures = {
  name: string
  calls: number
  failed: number
  medianMs: number | undefined
}

/** The most called comes first. */
export function toolsOf(events: readonly SessionEvent[]): ToolFigures[] {
  const calls = talkOf(events).flatMap((item) => (item.kind === 'tools' ? item.calls : []))
  return Object.entries(Object.groupBy(calls, ({ name }) => name))
    .map(([name, all = []]) => ({
      name,
      calls: all.length,
      failed: all.filter(({ result }) => result && (result.isError || (result.exitCode ?? 0) !== 0))
        .length,
      medianMs: median(all.flatMap(({ result }) => (result ? [result.tookMs] : []))),
    }))
    .toSorted((one, other) => other.calls - one.calls)
}

function median(times: readonly number[]): number | undefined {
  const sorted = times.toSorted((one, other) => one - other)
  return sorted[Math.floor((sorted.length - 1) / 2)]
}
