/** Workers and servers are killed during calls, and workers use two servers of one database. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from 'node:test'
import type { Database } from '@steward/server/ground/database/database.ts'
import { settingsIn, startServer } from './process.ts'
import type { ServerProcess } from './process.ts'
import type { ServiceClients } from './service.ts'
import { clientsOf, scenarioDatabases } from './service.ts'
import { all, post, say, textOf } from './turns.ts'
import { until } from './until.ts'
import { verifies } from './verifies.ts'
import { startWorker, workerVariables } from './worker-process.ts'
import type { WorkerPool } from './workers.ts'
import { newPool, sessionIn, untilStopped } from './workers.ts'

/** The settings that outlive a server: its folder or database, and its port. */
async function setup(database: Database['dialect']) {
  const folder = await mkdtemp(join(tmpdir(), 'steward-killed-'))
  const env = {
    ...(await settingsIn(folder, database)),
    ...{ SANDBOX_PROVIDER: 'local', EGRESS_PROFILE: 'best_effort' },
  }
  return {
    env,
    again: ({ base }: ServerProcess) => startServer({ ...env, PORT: new URL(base).port }),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  }
}

const worker = (service: ServiceClients, pool: WorkerPool) =>
  startWorker({
    ...workerVariables(service, pool),
    ...{ SANDBOX_PROVIDER: 'local', WORKER_LEASE_SECONDS: '10', WORKER_IDLE_SECONDS: '1' },
  })
const resultsOf = async (service: ServiceClients, session: string) =>
  all(await say(service, session), 'user.tool_result').map((each) => textOf(each).trim())
const begun = /"event":"call_started"/

for (const database of scenarioDatabases(import.meta.filename))
  describe(`workers whose processes are killed on ${database}`, () => {
    verifies(
      ['work/state/lease-expired', 'service/workers/claim', 'events/durable'],
      'kill -9 of the server in mid call: the worker goes on when it is back, and the result is there once',
      async () => {
        await using home = await setup(database)
        const first = await startServer(home.env)
        const service = clientsOf(first.base)
        const pool = await newPool(service)
        await using ours = await worker(service, pool)
        const session = await sessionIn(service, pool)
        await post(service, session, 'run: echo ran >> runs; sleep 2; cat runs\nsay: done')
        await ours.until(begun)
        await first.kill()
        await using _second = await home.again(first)
        await until(async () => (await resultsOf(service, session)).length > 0)
        await untilStopped(service, pool)
        assert.deepEqual(await resultsOf(service, session), ['ran'], ours.said())
        assert.equal((await say(service, session)).at(-1)?.type, 'session.status_idle')
        assert.equal(ours.said().match(/"message":"claimed"/g)?.length, 1)
      },
    )

    verifies(
      ['work/state/lease-expired', 'work/state/queued', 'events/durable'],
      'kill -9 of server and worker: the call is run by the next worker, and its result is there once',
      async () => {
        await using home = await setup(database)
        const first = await startServer(home.env)
        const service = clientsOf(first.base)
        const pool = await newPool(service)
        await using lost = await worker(service, pool)
        const session = await sessionIn(service, pool)
        await post(service, session, 'run: sleep 2; pwd\nsay: done')
        await lost.until(begun)
        await Promise.all([first.kill(), lost.kill()])
        await using _second = await home.again(first)
        await using next = await worker(service, pool)
        await until(async () => (await resultsOf(service, session)).length > 0)
        await untilStopped(service, pool)
        const results = await resultsOf(service, session)
        assert.equal(results.length, 1)
        assert.ok(results[0]?.startsWith(next.dir), results[0])
      },
    )
  })

describe('a worker that hangs', () => {
  verifies(
    'worker/lane/supervised-silence',
    'keeps no session: its harness ends with the lease, without a request to stop',
    async () => {
      await using home = await setup('sqlite')
      await using server = await startServer(home.env)
      const service = clientsOf(server.base)
      const pool = await newPool(service)
      await using ours = await worker(service, pool)
      const session = await sessionIn(service, pool)
      await post(service, session, 'run: sleep 13; pwd\nsay: done')
      await ours.until(begun)
      ours.pause()
      await using next = await worker(service, pool)
      await until(async () => (await resultsOf(service, session)).length > 0)
      const results = await resultsOf(service, session)
      ours.resume()
      await ours.until(/"message":"the harness ended".*aborted: lease_lost/)
      assert.deepEqual([results.length, results[0]?.startsWith(next.dir)], [1, true], results[0])
    },
  )
})

describe('workers on two servers of one Postgres', () => {
  async function pair() {
    const home = await setup('postgres')
    const [one, other] = [await startServer(home.env), await startServer(home.env)]
    const [here, there] = [clientsOf(one.base), clientsOf(other.base)]
    const pool = await newPool(here)
    const [left, right] = await Promise.all([worker(here, pool), worker(there, pool)])
    return {
      ...{ one, here, there, pool, left, right },
      async [Symbol.asyncDispose]() {
        for (const each of [left, right, one, other, home]) await each[Symbol.asyncDispose]()
      },
    }
  }

  verifies(
    ['service/workers/claim', 'work/token-per-claim'],
    'each session is one worker’s, whichever server it asks',
    async () => {
      await using both = await pair()
      const { here, there, pool, left, right } = both
      const sessions: string[] = []
      for (let n = 0; n < 6; n++) {
        const session = await sessionIn(n % 2 === 0 ? here : there, pool)
        await post(n % 3 === 0 ? here : there, session, `run: echo ${n}\nsay: done`)
        sessions.push(session)
      }
      await untilStopped(there, pool)
      for (const [n, session] of sessions.entries())
        assert.deepEqual(await resultsOf(n % 2 === 0 ? there : here, session), [String(n)])
      const claims = [left, right].map(
        (each) => each.said().match(/"message":"claimed"/g)?.length ?? 0,
      )
      assert.equal(
        claims.reduce((sum, each) => sum + each),
        6,
      )
    },
  )

  verifies(
    ['work/state/lease-expired', 'service/workers/claim'],
    'a session whose worker’s server was killed goes to the worker of the other, and has one result',
    async () => {
      await using both = await pair()
      const { one, there, pool, left, right } = both
      right.pause()
      const session = await sessionIn(there, pool)
      await post(there, session, 'run: sleep 2; pwd\nsay: done')
      await left.until(new RegExp(`"session":"${session}","event":"call_started"`))
      await one.kill()
      right.resume()
      await until(async () => (await resultsOf(there, session)).length > 0)
      const results = await resultsOf(there, session)
      assert.equal(results.length, 1)
      assert.ok(results[0]?.startsWith(right.dir), results[0])
    },
  )
})
