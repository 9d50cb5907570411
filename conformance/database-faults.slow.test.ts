/** Servers whose Postgres restarts under load, does not answer any more, or forgets to notify them. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { newPostgresUrl } from '@steward/server/ground/database/fixture.ts'
import { postgresProxy } from '@steward/server/ground/database/proxy-fixture.ts'
import { startPostgres } from '@steward/server/ground/database/postgres-fixture.ts'
import type { ServerProcess } from './process.ts'
import { startServer } from './process.ts'
import { openStream } from './reader.ts'
import { clientsOf } from './service.ts'
import type { SeenEvent } from './turns.ts'
import { message, newSession } from './turns.ts'
import { until } from './until.ts'
import { verifies } from './verifies.ts'

describe('a server whose Postgres fails', () => {
  let folder: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'steward-faults-'))
  })
  after(() => rm(folder, { recursive: true, force: true }))

  const start = (url: string): Promise<ServerProcess> =>
    startServer({
      DATA_DIR: folder,
      SANDBOX_DIR: join(folder, 'sandboxes'),
      SANDBOX_PROVIDER: 'local',
      EGRESS_PROFILE: 'disabled',
      DATABASE_URL: url,
      DATABASE_CONNECT_SECONDS: '1',
      DATABASE_STATEMENT_SECONDS: '1',
    })

  const logOf = async ({ base }: ServerProcess, session: string): Promise<SeenEvent[]> =>
    (await (await clientsOf(base).raw('GET', `/v1/sessions/${session}/log`)).json()) as SeenEvent[]

  it('outlives two restarts of it under eight writers, and has all that it acknowledged', async () => {
    const postgres = await startPostgres()
    try {
      await using server = await start(postgres.url)
      const service = clientsOf(server.base)
      const sessions = await Promise.all(Array.from({ length: 8 }, () => newSession(service)))
      const acknowledged: { session: string; text: string }[] = []
      const refused: number[] = []
      let over = false
      const writers = sessions.map(async (session) => {
        for (let n = 0; !over; n++) {
          const text = `message ${n} of this writer`
          const body = { events: [message(text)] }
          const { status } = await service.ask('POST', `/v1/sessions/${session}/events`, body)
          if (status === 202) acknowledged.push({ session, text })
          else refused.push(status)
          await pause(20)
        }
      })
      for (let round = 0; round < 2; round++) {
        const before = acknowledged.length
        await until(() => acknowledged.length > before + 40)
        await postgres.restart()
      }
      const last = acknowledged.length
      await until(() => acknowledged.length > last + 40)
      over = true
      await Promise.all(writers)
      assert.ok(refused.length > 0)
      assert.deepEqual(
        refused.filter((status) => status !== 503),
        [],
      )
      await until(async () => (await fetch(`${server.base}/readyz`)).status === 200)
      for (const session of sessions) {
        const texts = acknowledged.filter((each) => each.session === session)
        await until(async () => {
          const log = (await logOf(server, session)).map((event) => JSON.stringify(event))
          return texts.every(({ text }) => log.some((event) => event.includes(text)))
        })
      }
    } finally {
      await postgres.stop()
    }
  })

  verifies(
    ['stream/any-process', 'stream/replay', 'errors/case/database-away'],
    'streams on, without a gap, over a LISTEN that is lost and over packets that vanish',
    async () => {
      const url = await newPostgresUrl()
      await using proxy = await postgresProxy(url)
      await using near = await start(proxy.url)
      await using far = await start(url)
      const session = await newSession(clientsOf(far.base))
      const streams = await Promise.all(
        Array.from({ length: 5 }, () =>
          openStream(clientsOf(near.base), `/v1/sessions/${session}/events/stream?replay=1`),
        ),
      )
      let turns = 0
      const turn = async () => {
        const body = { events: [message('hello')] }
        const { status } = await clientsOf(far.base).ask(
          'POST',
          `/v1/sessions/${session}/events`,
          body,
        )
        assert.equal(status, 202)
        turns++
        await until(async () => (await idles(await logOf(far, session))) === turns)
      }
      const idles = async (events: SeenEvent[]) =>
        events.filter(({ type }) => type === 'session.status_idle').length
      const caughtUp = () =>
        until(async () => {
          const counts = streams.map(({ frames }) => idles(frames.map(({ data }) => data)))
          return (await Promise.all(counts)).every((count) => count === turns)
        })
      await turn()
      await caughtUp()

      const admin = new pg.Client({ connectionString: url })
      await admin.connect()
      await admin.query(`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and query like 'listen %'`)
      await turn()
      await caughtUp()

      proxy.vanish()
      await turn()
      // The pause is longer than two heartbeats of a connection, so the processes find that the connection is dead.
      await pause(3_000)
      await turn()
      proxy.resume()
      await turn()
      await caughtUp()
      await admin.end()
      for (const { frames } of streams) {
        const kept = frames.flatMap(({ id }) => (id === undefined ? [] : [Number(id)]))
        assert.deepEqual(
          kept,
          kept.toSorted((a, b) => a - b),
        )
        assert.equal(new Set(kept).size, kept.length)
      }
      await Promise.all(streams.map((stream) => stream[Symbol.asyncDispose]()))
    },
  )

  it('answers 503 while no packet passes, goes on when packets pass again, and ends when a signal asks for it', async () => {
    await using proxy = await postgresProxy(await newPostgresUrl())
    await using server = await start(proxy.url)
    const service = clientsOf(server.base)
    const session = await newSession(service)
    const post = () =>
      service.ask('POST', `/v1/sessions/${session}/events`, { events: [message('hello')] })
    assert.equal((await post()).status, 202)
    proxy.vanish()
    const began = performance.now()
    const refused = await Promise.all([post(), post(), post()])
    assert.deepEqual(
      refused.map(({ status }) => status),
      [503, 503, 503],
    )
    assert.ok(performance.now() - began < 15_000)
    proxy.resume()
    await until(async () => (await post()).status === 202)
    proxy.vanish()
    const told = performance.now()
    await server.stop()
    assert.ok(performance.now() - told < 30_000, `${performance.now() - told}`)
  })
})
