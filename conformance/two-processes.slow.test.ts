/** Two servers, each a process of its own, on one Postgres. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import { newPostgresUrl } from '@steward/server/ground/database/fixture.ts'
import { startCollector } from './collector.ts'
import { startServer } from './process.ts'
import type { ServerProcess } from './process.ts'
import { readStream } from './reader.ts'
import { adminKey } from './service.ts'
import type { SeenEvent } from './turns.ts'
import { all, fresh, message, only, textOf, types } from './turns.ts'
import { verifies } from './verifies.ts'

describe('two processes', () => {
  let env: Record<string, string>
  let folder: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'steward-two-'))
    env = {
      DATA_DIR: folder,
      SANDBOX_DIR: join(folder, 'sandboxes'),
      SANDBOX_PROVIDER: 'local',
      EGRESS_PROFILE: 'disabled',
      DATABASE_URL: await newPostgresUrl(),
    }
  })
  after(() => rm(folder, { recursive: true, force: true }))

  const headers = { 'x-api-key': adminKey }
  const at = ({ base }: ServerProcess) =>
    new Anthropic({ baseURL: base, apiKey: adminKey, maxRetries: 0 }).beta

  async function sessionAt(server: ServerProcess): Promise<string> {
    const agent = await at(server).agents.create({
      name: fresh('agent'),
      model: 'offline',
      tools: [{ type: 'agent_toolset_20260401' }],
    })
    const environment = await at(server).environments.create({ name: fresh('environment') })
    const made = { agent: agent.id, environment_id: environment.id }
    return (await at(server).sessions.create(made)).id
  }

  const say = (server: ServerProcess, session: string, text: string) =>
    at(server).sessions.events.send(session, { events: [message(text)] })

  async function streamAt({ base }: ServerProcess, session: string) {
    const url = `${base}/v1/sessions/${session}/events/stream?replay=1&include=chunks`
    return readStream(await fetch(url, { headers }))
  }

  async function logAt({ base }: ServerProcess, session: string): Promise<SeenEvent[]> {
    const answer = await fetch(`${base}/v1/sessions/${session}/log`, { headers })
    return (await answer.json()) as SeenEvent[]
  }

  verifies(
    ['stream/any-process', 'running/one-owner', 'settings/database-url', 'settings/api-key'],
    'messages posted at one are streamed by the other, chunks too, and run once',
    async () => {
      await using one = await startServer(env)
      await using other = await startServer(env)
      const session = await sessionAt(one)
      await using reader = await streamAt(other, session)
      for (let round = 1; round <= 5; round++) {
        await say(round % 2 ? one : other, session, `say: round ${round}`)
        await reader.until(
          () =>
            all(
              reader.frames.map(({ data }) => data),
              'session.status_idle',
            ).length >= round,
        )
      }
      const seen = reader.frames.map(({ data }) => data)
      const rounds = all(seen, 'agent.message').map(textOf)
      assert.deepEqual(rounds, ['round 1', 'round 2', 'round 3', 'round 4', 'round 5'])
      let shown = 0
      for (const whole of all(seen, 'agent.message')) {
        const chunks = all(seen, 'agent.message_chunk').filter(
          ({ message_id }) => message_id === whole.id,
        )
        shown += chunks.length
        assert.ok(textOf(whole).startsWith(chunks.map(({ delta }) => delta).join('')))
      }
      assert.ok(shown > 0)
      const log = await logAt(one, session)
      assert.deepEqual(
        log.map(({ seq }) => seq),
        log.map((_, index) => index + 1),
      )
    },
  )

  verifies(
    ['api-keys/revoked-at-once'],
    'a key that is revoked at one is refused by the other',
    async () => {
      await using one = await startServer(env)
      await using other = await startServer(env)
      const made = await fetch(`${one.base}/v1/ext/api_keys`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ name: 'short-lived' }),
      })
      const { id, key } = (await made.json()) as { id: string; key: string }
      const status = async () =>
        (await fetch(`${other.base}/v1/agents`, { headers: { 'x-api-key': key } })).status
      assert.equal(await status(), 200)
      await fetch(`${one.base}/v1/ext/api_keys/${id}`, { method: 'DELETE', headers })
      assert.equal(await status(), 401)
    },
  )

  verifies(
    [
      'running/dead-process',
      'running/recovery/interrupted-stream',
      'running/recovery/nothing-lost',
      'running/recovery/valid-history',
      'events/ext/warning',
      'events/durable',
      'http/traces',
    ],
    'when the process that runs a turn is killed, the other goes on with it',
    async () => {
      const collector = await startCollector()
      const traced = { ...env, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }
      await using one = await startServer(traced)
      // Both servers run before the turn begins, because the turn could end while a server starts.
      await using other = await startServer(traced)
      const session = await sessionAt(one)
      await say(one, session, 'say: before')
      await using first = await streamAt(one, session)
      await first.untilType('session.status_idle')
      // Any server may run a turn. The other one is paused, so that the server that the test kills runs this one.
      other.pause()
      const traceId = 'c'.repeat(32)
      const headers = { traceparent: `00-${traceId}-${'d'.repeat(16)}-01` }
      const events = [message('wait: 6000\nsay: survived')]
      await at(one).sessions.events.send(session, { events }, { headers })
      const isSecond = ({ type, seq }: SeenEvent) =>
        type === 'span.model_request_start' && Number(seq) > 8
      await first.until(isSecond)
      other.resume()
      await using reader = await streamAt(other, session)
      await reader.until(isSecond)
      const before = await logAt(other, session)
      const killedAt = Date.now()
      await one.kill()
      await reader.untilType('session.warning')
      assert.ok(Date.now() - killedAt < 5_000)
      await reader.until(
        () =>
          all(
            reader.frames.map(({ data }) => data),
            'session.status_idle',
          ).length === 2,
      )
      const log = await logAt(other, session)
      assert.deepEqual(log.slice(0, before.length), before)
      assert.deepEqual(
        log.map(({ seq }) => seq),
        log.map((_, index) => index + 1),
      )
      assert.deepEqual(all(log, 'agent.message').map(textOf), ['before', 'survived'])
      await say(other, session, 'say: and on')
      await reader.until((data) => data.type === 'agent.message' && textOf(data) === 'and on')
      await reader[Symbol.asyncDispose]()
      await other.stop()
      collector.close()
      // The killed server lost its spans, so the last two are of the other server. An earlier span may be of either.
      const runs = collector.spans.filter(({ name }) => name.startsWith('invoke_agent'))
      assert.deepEqual(
        runs.slice(-2).map((run) => run.traceId === traceId),
        [true, false],
      )
    },
  )

  verifies(
    ['running/recovery/orphan-call', 'running/recovery/once', 'running/fenced'],
    'a command that was cut off is closed with an error result, and not run again',
    async () => {
      await using one = await startServer(env)
      const session = await sessionAt(one)
      await say(one, session, 'run: echo once >> done.txt\nrun: echo begun >> begun.txt; sleep 30')
      await using other = await startServer(env)
      await using reader = await streamAt(other, session)
      await reader.until(
        () =>
          all(
            reader.frames.map(({ data }) => data),
            'agent.tool_use',
          ).length === 2,
      )
      await one.kill()
      await reader.untilType('session.status_idle')
      const log = await logAt(other, session)
      const [ran, cut] = all(log, 'agent.tool_result')
      const [, second] = all(log, 'agent.tool_use')
      assert.deepEqual(
        [ran?.['is_error'], cut?.['is_error'], cut?.['tool_use_id']],
        [false, true, second?.id],
      )
      assert.deepEqual(only(log, 'session.warning')['event_ids'], [second?.id])
      await say(other, session, 'run: cat done.txt begun.txt')
      await reader.until(
        () =>
          all(
            reader.frames.map(({ data }) => data),
            'session.status_idle',
          ).length === 2,
      )
      const last = all(await logAt(other, session), 'agent.tool_result').at(-1)
      assert.ok(last)
      assert.match(textOf(last), /^once\nbegun\n.*started anew/, types(log).join())
    },
  )

  verifies(
    ['memories/create', 'memories/precondition', 'memory-versions/audit'],
    'writers of one memory store at both lose no write and take no path twice',
    async () => {
      await using one = await startServer(env)
      await using other = await startServer(env)
      const store = (await at(one).memoryStores.create({ name: fresh('store') })).id
      const memories = (n: number) => at(n % 2 === 0 ? one : other).memoryStores.memories
      for (let round = 0; round < 10; round++) {
        const paths = [`/${round}`, `/${round}/a`, `/${round}/a/b`, `/${round}`]
        const made = await Promise.allSettled(
          paths.map((path, n) => memories(n).create(store, { path, content: '0' })),
        )
        assert.equal(made.filter(({ status }) => status === 'fulfilled').length, 1)
      }
      const inStore = { memory_store_id: store }
      const { id } = await memories(0).create(store, { path: '/shared', content: '' })
      // Each writer adds its name to the content that it read, and reads again when another writer was faster.
      const add = async (n: number): Promise<void> => {
        const read = await memories(n).retrieve(id, inStore)
        const content = `${read.content} ${n}`
        const precondition = {
          type: 'content_sha256' as const,
          content_sha256: read.content_sha256,
        }
        try {
          await memories(n).update(id, { ...inStore, content, precondition })
        } catch (error) {
          if (!(error instanceof Anthropic.ConflictError)) throw error
          await add(n)
        }
      }
      const writers = Array.from({ length: 12 }, (_, n) => n)
      await Promise.all(writers.map(add))
      const { content } = await memories(0).retrieve(id, inStore)
      const names = (content ?? '').trim().split(' ').map(Number)
      assert.deepEqual(
        names.toSorted((a, b) => a - b),
        writers,
      )
      const versions = await at(other).memoryStores.memoryVersions.list(store, { memory_id: id })
      assert.equal(versions.data.length, writers.length + 1)
    },
  )
})
