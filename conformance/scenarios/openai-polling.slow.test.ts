/**
 * A program without the `openai` client that polls: the requests that promptfoo's provider `openai:agents-api` makes,
 * in its order and with its headers.
 */
import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type { TestService } from '../service.ts'
import { adminKey, boot, scenarioDatabases } from '../service.ts'
import { until } from '../until.ts'
import { verifies } from '../verifies.ts'

type Usage = { input_tokens: number; output_tokens: number; total_tokens: number }
type Session = { id: string; status: string; usage?: Usage | null; agent: { model: string } }
type Turn = { id: string; subagent_id: string | null; status: string; usage?: Usage | null }
type Item = {
  type: string
  turn_id: string
  status?: string
  role?: string
  phase?: string | null
  content?: { type: string; text?: string }[]
}
type Page<T> = { data: T[]; has_more: boolean; last_id: string | null }

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`a program that polls the OpenAI surface, on ${database}`, () => {
    let service: TestService
    before(async () => {
      service = await boot(database)
    })
    after(() => service.close())

    async function ask<T>(method: string, path: string, body?: object) {
      const answer = await fetch(`${service.base}/openai/v1/${path}`, {
        method,
        headers: {
          authorization: `Bearer ${adminKey}`,
          'content-type': 'application/json',
          'openai-beta': 'agents=v1',
        },
        ...(body && { body: JSON.stringify(body) }),
      })
      const text = await answer.text()
      return { status: answer.status, body: (text === '' ? undefined : JSON.parse(text)) as T }
    }

    async function list<T>(path: string): Promise<T[]> {
      const { status, body } = await ask<Page<T>>('GET', `${path}?order=asc&limit=100`)
      assert.equal(status, 200)
      assert.equal(body.has_more, false)
      return body.data
    }

    const created = async (input: string, more: object = {}) => {
      const agent = { model: 'offline', ...more }
      const fields = { environment: { type: 'none' }, input, stream: false }
      const { status, body } = await ask<Session>('POST', 'agents/sessions', { agent, ...fields })
      assert.equal(status, 200)
      return { session: body, at: `agents/sessions/${encodeURIComponent(body.id)}` }
    }

    const rootTurn = async (at: string) =>
      (await list<Turn>(`${at}/turns`)).find(({ subagent_id }) => subagent_id === null)

    verifies(
      [
        'openai/sessions/create',
        'openai/turns/list',
        'openai/items/list',
        'openai/sessions/delete',
      ],
      'starts a session, waits for its turn, reads the answer with its usage, and deletes it',
      async () => {
        const { at } = await created('say: forty two')
        await until(async () => (await rootTurn(at))?.status === 'completed')
        await until(async () => (await ask<Session>('GET', at)).body.status === 'idle')
        const turn = await rootTurn(at)
        const items = await list<Item>(`${at}/items`)
        const answer = items.filter(
          ({ turn_id, role, status, phase }) =>
            turn_id === turn?.id &&
            role === 'assistant' &&
            status === 'completed' &&
            phase === 'final_answer',
        )
        assert.deepEqual(
          answer.flatMap(({ content }) => content),
          [{ type: 'output_text', text: 'forty two' }],
        )
        assert.deepEqual(await list(`${at}/subagents`), [])
        const { body: session } = await ask<Session>('GET', at)
        const { body: read } = await ask<Turn>('GET', `${at}/turns/${turn?.id}`)
        for (const { usage } of [session, read]) {
          assert.equal(typeof usage?.total_tokens, 'number')
          assert.equal(
            usage?.total_tokens,
            (usage?.input_tokens ?? 0) + (usage?.output_tokens ?? 0),
          )
        }
        assert.equal(session.agent.model, 'offline')
        assert.equal((await ask('DELETE', at)).status, 200)
        assert.equal((await ask('DELETE', at)).status, 404)
      },
    )

    verifies(
      ['openai/sessions/delete', 'openai/events/post', 'openai/sessions/required-actions'],
      'cancels a turn that waits, and deletes the session once it rests',
      async () => {
        const price = { type: 'function', name: 'price', description: 'A price', parameters: {} }
        const { at } = await created('call price {}', { tools: [price] })
        await until(async () => (await ask<Session>('GET', at)).body.status === 'requires_action')
        const cancel = { events: [{ type: 'agent.session.input.cancel' }] }
        const cancelled = await ask('POST', `${at}/events`, cancel)
        assert.deepEqual([cancelled.status, cancelled.body], [202, undefined])
        await until(async () => {
          const { status } = await ask('DELETE', at)
          assert.ok(status === 200 || status === 409, String(status))
          return status === 200
        })
        const missing = await ask<{ error: { message: string } }>('GET', at)
        assert.equal(missing.status, 404)
        assert.equal(typeof missing.body.error.message, 'string')
      },
    )
  })
}
