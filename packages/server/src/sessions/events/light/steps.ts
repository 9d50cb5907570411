/** What a step took: a request to the model, or the call of a tool. It stands in the event that ends it. */
import type { EventStep } from '@steward/protocol/light-events.ts'
import { inExactCents } from '../../../ground/core/text/money.ts'
import { eventLoop } from '../../../ground/core/fairness/event-loop.ts'
import type { Reads } from '../../../ground/database/database.ts'
import type { SessionRef } from '../../../ground/core/refs.ts'
import { textBehind } from '../../rows/cut-json.ts'
import type { LightRow } from './read-light.ts'
import type { BegunRow } from './store.ts'
import { selectBefore, selectCalls, selectConfirmations } from './store.ts'

/** `mayAsk`: the call may have waited for a person. */
type Begin = Pick<LightRow, 'seq' | 'id' | 'created_at'> & {
  tool: string | undefined
  mayAsk: boolean
}
type EndedStep = { row: LightRow; type: EventStep['type']; begun_by: string }

/** The type of the step that an event ends, and the field that names the event with which it began. */
const endings: Record<string, { type: EventStep['type']; by: string }> = {
  'span.model_request_end': { type: 'model_request', by: 'model_request_start_id' },
  'span.compaction_summarize_end': { type: 'compaction', by: 'compaction_summarize_start_id' },
  'span.outcome_evaluation_end': {
    type: 'outcome_evaluation',
    by: 'outcome_evaluation_start_id',
  },
  'agent.tool_result': { type: 'tool_call', by: 'tool_use_id' },
  'agent.advisor_tool_result': { type: 'tool_call', by: 'tool_use_id' },
  'agent.mcp_tool_result': { type: 'tool_call', by: 'mcp_tool_use_id' },
  'user.tool_result': { type: 'tool_call', by: 'tool_use_id' },
  'user.custom_tool_result': { type: 'tool_call', by: 'custom_tool_use_id' },
}
export const resultTypes = Object.keys(endings).filter((type) => type.endsWith('_result'))
const spanStarts = Object.keys(endings)
  .filter((type) => type.startsWith('span.'))
  .map((type) => type.replace(/end$/, 'start'))

/** Steps by the `seq` of the events that end them. */
export async function readSteps(
  db: Reads,
  ref: SessionRef,
  rows: readonly LightRow[],
): Promise<Map<number, EventStep>> {
  const ended = rows.flatMap((row): EndedStep[] => {
    const { type, by } = endings[row.type] ?? {}
    const begun_by = by && row.fields[by]
    return type && typeof begun_by === 'string' && begun_by !== '' ? [{ row, type, begun_by }] : []
  })
  const begins = await readBegins(db, ref, rows, ended)
  const allowed = await readConfirmations(db, ref, rows, ended, begins)
  return new Map(
    ended.flatMap(({ row, type, begun_by }) => {
      const begin = begins.get(begun_by)
      if (!begin) return []
      return [[row.seq, stepOf(row, type, begin, allowed.get(begun_by))]]
    }),
  )
}

/** Most steps begin on the page where they end: only the others are read. */
async function readBegins(
  db: Reads,
  ref: SessionRef,
  rows: readonly LightRow[],
  ended: readonly EndedStep[],
): Promise<Map<string, Begin>> {
  const named = new Set(ended.map(({ begun_by }) => begun_by))
  const begins = new Map<string, Begin>()
  for (const { seq, id, created_at, fields } of rows) {
    if (!named.has(id)) continue
    const tool = typeof fields['name'] === 'string' ? fields['name'] : undefined
    const mayAsk = fields['evaluated_permission'] === 'ask'
    begins.set(id, { seq, id, created_at, tool, mayAsk })
  }
  const missing = ended.filter(({ begun_by }) => !begins.has(begun_by))
  const calls = missing.filter(({ type }) => type === 'tool_call')
  const spans = missing.filter(({ type }) => type !== 'tool_call')
  const found = [
    ...(calls.length > 0 ? await selectCalls(db, ref, namesOf(calls)) : []),
    ...(await readStarts(db, ref, spans)),
  ]
  for (const { seq, id, created_at, head } of found)
    begins.set(id, { seq, id, created_at, tool: textBehind('name', head), mayAsk: true })
  return begins
}

const namesOf = (ended: readonly EndedStep[]): string[] => [
  ...new Set(ended.map(({ begun_by }) => begun_by)),
]

/** Spans that one statement searches for, backwards from their ends. */
const spansAtOnce = 50

async function readStarts(
  db: Reads,
  ref: SessionRef,
  spans: readonly EndedStep[],
): Promise<BegunRow[]> {
  const found: BegunRow[] = []
  const newest = spans.toSorted((one, other) => other.row.seq - one.row.seq)
  for (let at = 0; at < newest.length; at += spansAtOnce) {
    if (at > 0) await eventLoop.wait(ref.tenant)
    const some = newest.slice(at, at + spansAtOnce)
    const before = some[0]?.row.seq ?? 0
    const ids = namesOf(some)
    found.push(...(await selectBefore(db, ref, { before, types: spanStarts, ids })))
  }
  return found
}

/** When calls were allowed or denied, by the ids of their events. */
async function readConfirmations(
  db: Reads,
  ref: SessionRef,
  rows: readonly LightRow[],
  ended: readonly EndedStep[],
  begins: ReadonlyMap<string, Begin>,
): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (const { type, fields, created_at } of rows)
    if (type === 'user.tool_confirmation') found.set(String(fields['tool_use_id']), created_at)
  const others = ended.flatMap(({ type, begun_by, row }) => {
    const begin = begins.get(begun_by)
    const isMissing = type === 'tool_call' && begin?.mayAsk && !found.has(begun_by)
    return isMissing ? [{ first: begin.seq, last: row.seq }] : []
  })
  if (others.length === 0) return found
  const confirmations = await selectConfirmations(db, ref, {
    after: Math.min(...others.map(({ first }) => first)),
    before: Math.max(...others.map(({ last }) => last)),
  })
  for (const { head, created_at } of confirmations)
    found.set(textBehind('tool_use_id', head) ?? '', created_at)
  return found
}

function stepOf(
  { fields, cut, created_at, spent }: LightRow,
  type: EventStep['type'],
  begin: Begin,
  allowedAt: string | undefined,
): EventStep {
  const tool = type === 'tool_call' ? begin.tool : undefined
  const started_at = allowedAt ?? begin.created_at
  const isError = fields['is_error'] === true || fields['result'] === 'failed'
  const exit_code = tool === 'bash' ? exitCode(fields, cut, isError) : undefined
  const cost = spent && { list_cost: spent.units === null ? null : inExactCents(spent.units) }
  return {
    type,
    begun_by: begin.id,
    begun_seq: begin.seq,
    ...(tool !== undefined && { tool }),
    started_at,
    duration_ms: msBetween(started_at, created_at),
    ...(allowedAt !== undefined && { waited_ms: msBetween(begin.created_at, allowedAt) }),
    is_error: isError,
    ...(exit_code !== undefined && { exit_code }),
    ...(spent && { model: spent.model }),
    ...cost,
  }
}

const msBetween = (from: string, to: string): number =>
  Math.max(0, Date.parse(to) - Date.parse(from))

/** The code with which a command ended, which the last line of a failed one names. */
function exitCode(
  { content }: LightRow['fields'],
  cut: LightRow['cut'],
  isError: boolean,
): number | undefined {
  if (!isError) return 0
  const block: unknown = Array.isArray(content) ? content[0] : undefined
  const text = typeof block === 'object' && block && 'text' in block ? String(block.text) : ''
  const end = cut.find(({ at }) => at === '/content/0/text')?.tail ?? text
  const [, code] = /(?:^|\n)\[?exit (\d+)\]?$/.exec(end) ?? []
  return code === undefined ? undefined : Number(code)
}
