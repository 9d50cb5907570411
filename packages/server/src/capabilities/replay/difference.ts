/** Events of two runs side by side: their ids differ, and nothing else may. */
import type { NewEvent } from '@steward/protocol/events.ts'
import { callOfResult } from './recorded-tools.ts'
import { isCall } from '@steward/protocol/call-events.ts'

const references = [
  'id',
  'tool_use_id',
  'mcp_tool_use_id',
  'custom_tool_use_id',
  'model_request_start_id',
]

/** Each event as indented JSON, with ids by the order in which they appear. */
export function comparable(events: readonly NewEvent[]): string[] {
  const numbers = new Map<string, number>()
  const numbered = (id: unknown): string => {
    const known = numbers.get(String(id)) ?? numbers.size + 1
    numbers.set(String(id), known)
    return `#${known}`
  }
  return events.map((event) => {
    const fields = Object.entries(event).map(([name, value]): [string, unknown] => [
      name,
      references.includes(name) ? numbered(value) : value,
    ])
    const sorted = fields.toSorted(([one], [other]) => (one < other ? -1 : 1))
    return JSON.stringify(Object.fromEntries(sorted), null, 2)
  })
}

/** Results of calls that ran at the same time come as they are done; here they come as their calls. */
export function inCallOrder(events: readonly NewEvent[]): NewEvent[] {
  const places = new Map<string, number>()
  for (const event of events) if (isCall(event)) places.set(event.id, places.size)
  const placeOf = (event: NewEvent) => places.get(callOfResult(event) ?? '') ?? -1
  const sorted: NewEvent[] = []
  let results: NewEvent[] = []
  const put = () => {
    sorted.push(...results.toSorted((one, other) => placeOf(one) - placeOf(other)))
    results = []
  }
  for (const event of events) {
    if (callOfResult(event) !== undefined) {
      results.push(event)
      continue
    }
    put()
    sorted.push(event)
  }
  put()
  return sorted
}

/** Lines that two texts share are looked for in texts up to this number of lines. */
const mostLines = 1_000

/** The lines of both texts: `-` is only in the first, `+` only in the second. */
export function diffOf(before: string, now: string): string {
  const [old, fresh] = [linesOf(before), linesOf(now)]
  if (old.length > mostLines || fresh.length > mostLines)
    return [...old.map((line) => `- ${line}`), ...fresh.map((line) => `+ ${line}`)].join('\n')
  const shared = sharedLengths(old, fresh)
  const lines: string[] = []
  let [at, other] = [0, 0]
  while (at < old.length || other < fresh.length) {
    if (at < old.length && other < fresh.length && old[at] === fresh[other]) {
      lines.push(`  ${old[at]}`)
      at++
      other++
    } else if (
      at < old.length &&
      (other === fresh.length || (shared[at + 1]?.[other] ?? 0) >= (shared[at]?.[other + 1] ?? 0))
    )
      lines.push(`- ${old[at++]}`)
    else lines.push(`+ ${fresh[other++]}`)
  }
  return lines.join('\n')
}

const linesOf = (text: string): string[] => (text === '' ? [] : text.split('\n'))

/** How many lines the rests of both texts share, from each pair of lines on. */
function sharedLengths(old: readonly string[], fresh: readonly string[]): Uint16Array[] {
  const table = Array.from({ length: old.length + 1 }, () => new Uint16Array(fresh.length + 1))
  for (let at = old.length - 1; at >= 0; at--) {
    const [row, below] = [table[at], table[at + 1]]
    if (!row || !below) continue
    for (let other = fresh.length - 1; other >= 0; other--)
      row[other] =
        old[at] === fresh[other]
          ? (below[other + 1] ?? 0) + 1
          : Math.max(below[other] ?? 0, row[other + 1] ?? 0)
  }
  return table
}
