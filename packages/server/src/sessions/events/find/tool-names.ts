import type { Reads } from '../../../ground/database/database.ts'
import type { SessionRef } from '../../../ground/core/refs.ts'
import { textBehind } from '../../rows/cut-json.ts'
import { selectCalls } from '../light/store.ts'

const calledBy = ['tool_use_id', 'mcp_tool_use_id', 'custom_tool_use_id'] as const

/** The names that a call's tool has: for the model, and for its MCP server. */
const namesIn = (beginning: string): string[] =>
  ['name', 'mcp_tool_name'].flatMap((field) => textBehind(field, beginning) ?? [])

/** Names of tools by the `seq` of calls and results. `data`: the beginning of an event's text. */
export async function toolNames(
  db: Reads,
  ref: SessionRef,
  rows: readonly { seq: number; type: string; data: string }[],
): Promise<Map<number, string[]>> {
  const names = new Map<number, string[]>()
  const results = new Map<number, string>()
  for (const { seq, type, data } of rows) {
    if (type.endsWith('tool_use')) names.set(seq, namesIn(data))
    if (!type.endsWith('_result')) continue
    const call = calledBy.map((field) => textBehind(field, data)).find(Boolean)
    if (call !== undefined) results.set(seq, call)
  }
  if (results.size === 0) return names
  const calls = await selectCalls(db, ref, [...new Set(results.values())])
  const namesOf = new Map(calls.map(({ id, head }) => [id, namesIn(head)]))
  for (const [seq, call] of results) names.set(seq, namesOf.get(call) ?? [])
  return names
}
