/** Compares events of two runs. Ids may differ, everything else must be equal. */
import { hash } from 'node:crypto'
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

/** Each event as indented JSON. Ids become numbers in the order of their appearance. */
export function normalizeEvents(events: readonly NewEvent[]): string[] {
  const numbers = new Map<string, number>()
  const numbered = (id: unknown): string => {
    const known = numbers.get(String(id)) ?? numbers.size + 1
    numbers.set(String(id), known)
    return `#${known}`
  }
  return events.map((event) => {
    // Sorted first: events of the log and new ones have their fields in another order.
    const sorted = Object.entries(event).toSorted(([one], [other]) => (one < other ? -1 : 1))
    const fields = sorted.map(([name, value]): [string, unknown] => [
      name,
      references.includes(name) ? numbered(value) : value,
    ])
    return JSON.stringify(Object.fromEntries(fields), null, 2)
  })
}

/** Orders results like their calls: results of concurrent calls are logged in the order in which they end. */
export function inCallOrder(events: readonly NewEvent[]): NewEvent[] {
  const positions = new Map<string, number>()
  for (const event of events) if (isCall(event)) positions.set(event.id, positions.size)
  const positionOf = (event: NewEvent) => positions.get(callOfResult(event) ?? '') ?? -1
  const sorted: NewEvent[] = []
  let results: NewEvent[] = []
  const put = () => {
    sorted.push(...results.toSorted((one, other) => positionOf(one) - positionOf(other)))
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

/** Longest text, in lines, in which common lines are searched. */
const mostLines = 1_000

/** The lines of both texts. `-`: only in the first. `+`: only in the second. */
export function diffTexts(before: string, now: string): string {
  const [old, fresh] = [linesOf(before), linesOf(now)]
  if (old.length > mostLines || fresh.length > mostLines)
    return [...old.map((line) => `- ${line}`), ...fresh.map((line) => `+ ${line}`)].join('\n')
  // Attack: to compare each pair of long lines that begin alike takes seconds.
  const shared = sharedLengths(old.map(digestOf), fresh.map(digestOf))
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

const digestOf = (line: string): string => hash('sha256', line)

/** For each pair of lines, given as digests: the number of common lines in the rests of both texts. */
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
