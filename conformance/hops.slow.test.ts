/** Sessions whose turns go from one process to the other and back, on one Postgres and one `SANDBOX_DIR`. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import { newPostgresUrl } from '@steward/server/ground/database/fixture.ts'
import { startServer } from './process.ts'
import type { ServerProcess } from './process.ts'
import { adminKey } from './service.ts'
import type { SeenEvent } from './turns.ts'
import { all, fresh, message } from './turns.ts'
import { until } from './until.ts'
import { verifies } from './verifies.ts'

const sessions = 8
/** Turns of each session, every one on another process than the one before. */
const hops = 26

describe('turns that go to another process', () => {
  let env: Record<string, string>
  let folder: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'steward-hops-'))
    env = { DATA_DIR: folder, DATABASE_URL: await newPostgresUrl() }
  })
  after(() => rm(folder, { recursive: true, force: true }))

  const at = ({ base }: ServerProcess) =>
    new Anthropic({ baseURL: base, apiKey: adminKey, maxRetries: 0 }).beta

  async function newSession(server: ServerProcess): Promise<string> {
    const { agents, environments, memoryStores, sessions: made } = at(server)
    const tools = [{ type: 'agent_toolset_20260401' as const }]
    const agent = await agents.create({ name: fresh('agent'), model: 'offline', tools })
    const environment = await environments.create({ name: fresh('environment') })
    const store = await memoryStores.create({ name: 'notes' })
    const { id } = await made.create({
      agent: agent.id,
      environment_id: environment.id,
      resources: [{ type: 'memory_store', memory_store_id: store.id }],
    })
    return id
  }

  async function logAt({ base }: ServerProcess, session: string): Promise<SeenEvent[]> {
    const headers = { 'x-api-key': adminKey }
    const answer = await fetch(`${base}/v1/sessions/${session}/log`, { headers })
    return (await answer.json()) as SeenEvent[]
  }

  async function hop(server: ServerProcess, session: string, n: number): Promise<SeenEvent[]> {
    const text = `run: echo ${n} >>count; echo ${n} >/mnt/memory/notes/note; wc -l <count`
    await at(server).sessions.events.send(session, { events: [message(text)] })
    let log: SeenEvent[] = []
    await until(async () => {
      log = await logAt(server, session)
      return all(log, 'session.status_idle').length >= n
    })
    return log
  }

  verifies(
    ['sandbox/another-process'],
    'find their sandbox whole, every time, and nothing runs twice',
    async () => {
      await using one = await startServer(env)
      await using other = await startServer(env)
      const ids = await Promise.all(Array.from({ length: sessions }, () => newSession(one)))
      const whole = ids.map(async (session) => {
        let log: SeenEvent[] = []
        for (let n = 1; n <= hops; n++) log = await hop(n % 2 ? one : other, session, n)
        return log
      })
      for (const log of await Promise.all(whole)) {
        const results = all(log, 'agent.tool_result')
        const wrong = results.filter(({ is_error }) => is_error)
        assert.deepEqual(
          wrong.map(({ content }) => content),
          [],
        )
        assert.deepEqual(
          results.map(({ content }) => JSON.stringify(content).match(/\d+/)?.[0]),
          Array.from({ length: hops }, (_, n) => String(n + 1)),
        )
        assert.deepEqual(all(log, 'session.error'), [])
      }
      for (const server of [one, other])
        assert.doesNotMatch(server.said(), /not cleared away|a tool threw/)
    },
  )
})
