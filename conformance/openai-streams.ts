/** Compares the streams of `/openai/v1` for a session with its lists. */
import assert from 'node:assert/strict'
import type { StreamReader } from './reader.ts'
import { openStream } from './reader.ts'
import type { ServiceClients } from './service.ts'
import type { SeenEvent } from './turns.ts'

const sessions = '/openai/v1/agents/sessions'

export const followTurns = (server: ServiceClients, session: string): Promise<StreamReader> =>
  openStream(server, `${sessions}/${session}/events`)

type StreamedItem = { id: string; type: string; turn_id: string; status?: string; role?: string }
type StreamedEvent = {
  type: string
  turn_id: string | null
  item?: StreamedItem
  output_index?: number
}

const toldOf = ({ type, ...fields }: SeenEvent): StreamedEvent => {
  const { turn_id = null, item, output_index } = fields as Partial<StreamedEvent>
  return {
    type,
    turn_id,
    ...(item && { item }),
    ...(output_index !== undefined && { output_index }),
  }
}

const isOutput = ({ type, role }: StreamedItem): boolean =>
  !['function_call_output', 'agent_message'].includes(type) && role !== 'user'

/** False for an unfinished item: the log lacks a block that was abandoned or whose server was killed. */
const isKept = ({ type, item }: StreamedEvent): boolean =>
  type === 'agent.session.turn.item.done'
    ? item?.status !== 'incomplete'
    : type === 'agent.session.turn.item.added' && item?.type.endsWith('_execution') === true

async function listed<T>(server: ServiceClients, path: string): Promise<T[]> {
  type Page = { data: T[]; has_more: boolean; last_id: string | null }
  const all: T[] = []
  for (let after = ''; ;) {
    const { status, body } = await server.ask<Page>('GET', `${path}?order=asc&limit=100${after}`)
    assert.equal(status, 200, path)
    all.push(...body.data)
    if (!body.has_more) return all
    after = `&after=${body.last_id}`
  }
}

/** Output items by turn, with those of subagents. Asserts that each turn has ended. */
async function outputsOf(server: ServiceClients, session: string): Promise<Map<string, string[]>> {
  const own = `${sessions}/${session}`
  const children = await listed<{ id: string }>(server, `${own}/subagents`)
  const outputs = new Map<string, string[]>()
  for (const path of [own, ...children.map(({ id }) => `${own}/subagents/${id}`)])
    for (const turn of await listed<{ id: string; status: string }>(server, `${path}/turns`)) {
      assert.match(turn.status, /^(completed|failed|cancelled)$/, turn.id)
      const items = await listed<StreamedItem>(server, `${path}/turns/${turn.id}/items`)
      outputs.set(
        turn.id,
        items.filter(isOutput).map(({ id }) => id),
      )
    }
  return outputs
}

/** Checks the streams of a session at rest. Returns the number of items in the streams. */
export async function checkStream(
  server: ServiceClients,
  session: string,
  streams: readonly StreamReader[],
): Promise<number> {
  const outputs = await outputsOf(server, session)
  const told = streams.flatMap(({ frames }) => frames.map(({ data }) => toldOf(data)))
  const kept = told.filter(isKept)
  for (const { turn_id } of told) assert.ok(!turn_id || outputs.has(turn_id), `${turn_id} is gone`)
  for (const { item, output_index } of kept) {
    assert.ok(item)
    assert.equal(outputs.get(item.turn_id)?.indexOf(item.id), output_index, JSON.stringify(item))
  }
  return kept.length
}
