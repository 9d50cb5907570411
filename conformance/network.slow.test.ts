/**
 * The network between a worker and the service is cut, for less and for more than a lease. [work/state/lease-expired]
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { systemClock } from '@steward/base/time.ts'
import type { WorkerMachine } from './worker-machine.ts'
import { startWorkerMachine } from './worker-machine.ts'
import { officialVersions, poolVariables, startOfficialWorker } from './official-process.ts'
import type { TestService } from './service.ts'
import { boot, scenarioDatabases } from './service.ts'
import { all, post, say, textOf } from './turns.ts'
import { until } from './until.ts'
import { verifies } from './verifies.ts'
import type { WorkerProcess } from './worker-process.ts'
import { startWorker, workerVariables } from './worker-process.ts'
import type { WorkerPool } from './workers.ts'
import { newPool, restsAfter, sessionIn, untilStopped } from './workers.ts'

const here = scenarioDatabases(import.meta.filename)

for (const database of here)
  describe(`a network that is cut on ${database}`, () => {
    let service: TestService
    let machine: WorkerMachine
    let passed = 0
    let folder: string
    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'steward-network-'))
      machine = await startWorkerMachine()
      const clock = { ...systemClock, now: () => Date.now() + passed }
      service = await boot(database, { env: { HOST: '0.0.0.0' }, overrides: { clock } })
    })
    after(async () => {
      await service.close()
      await machine[Symbol.asyncDispose]()
      await rm(folder, { recursive: true })
    })

    /** A command that ends when the gate is opened. */
    const newGate = (): { wait: string; open: () => Promise<void> } => {
      const gate = join(folder, randomUUID())
      return {
        wait: `until [ -e ${gate} ]; do sleep 0.1; done`,
        open: () => writeFile(gate, ''),
      }
    }

    const fromApart = () => ({ base: service.base.replace('127.0.0.1', machine.host) })
    const results = async (session: string) =>
      all(await say(service, session), 'user.tool_result').map((each) => textOf(each).trim())
    const settings = (pool: WorkerPool, seconds: number) => ({
      ...{ SANDBOX_PROVIDER: 'local', WORKER_LEASE_SECONDS: String(seconds) },
      ...workerVariables(service, pool),
    })
    const workerApart = (pool: WorkerPool, seconds: number) => {
      const { base: WORKER_BASE_URL } = fromApart()
      return startWorker({ ...settings(pool, seconds), WORKER_BASE_URL }, machine.by)
    }
    const claims = (worker: WorkerProcess) =>
      worker.said().match(/"message":"claimed"/g)?.length ?? 0
    const working = (worker: WorkerProcess) => worker.until(/"event":"call_started"/)

    verifies(
      ['work/state/lease-expired', 'service/workers/claim'],
      'for less than a lease: the same worker goes on, and its result is there once',
      async () => {
        const pool = await newPool(service)
        await using apart = await workerApart(pool, 30)
        const session = await sessionIn(service, pool)
        const gate = newGate()
        const done = restsAfter(service, session, `run: ${gate.wait}; pwd\nrun: echo and on`)
        await working(apart)
        await using near = await startWorker(settings(pool, 30))
        await machine.cut()
        await gate.open()
        // The call ends while the network is cut, so its result cannot arrive yet.
        await delay(3_000)
        assert.deepEqual(await results(session), [])
        await machine.mend()
        await done
        const [where = '', next] = await results(session)
        assert.ok(where.startsWith(apart.dir), where)
        assert.equal(next, 'and on')
        assert.deepEqual([claims(apart), claims(near)], [1, 0])
      },
    )

    verifies(
      ['work/state/lease-expired', 'worker/lane/supervised-412', 'auth/claim-token/rotated'],
      'for more than a lease: another worker has the session, and the first lets go by itself and adds nothing to it',
      async () => {
        const pool = await newPool(service)
        await using apart = await workerApart(pool, 10)
        const session = await sessionIn(service, pool)
        const gate = newGate()
        const done = restsAfter(service, session, `run: ${gate.wait}; pwd\nrun: echo and on`)
        await working(apart)
        await using near = await startWorker(settings(pool, 10))
        await machine.cut()
        await gate.open()
        await done
        const found = await results(session)
        await apart.until(/"why":"aborted: lease_lost"/)
        await machine.mend()
        assert.ok(found[0]?.startsWith(near.dir), found[0])
        assert.equal(found[1], 'and on')
        // The worker is back when it has claimed another item. Its late results have arrived by then.
        assert.equal(await near.stop(), 0)
        const next = await sessionIn(service, pool)
        await restsAfter(service, next, 'run: echo back')
        assert.equal(claims(apart), 2)
        assert.deepEqual(await results(session), found)
        assert.deepEqual(await results(next), ['back'])
      },
    )

    for (const version of database === here[0] ? officialVersions : [])
      verifies(
        ['work/state/lease-expired', 'auth/claim-token/rotated'],
        `for the official worker ${version}: for less than a lease it goes on, for more it is fenced`,
        async () => {
          const pool = await newPool(service)
          const options = { version, maxIdleMs: 1_000 }
          const variables = poolVariables(pool)
          await using apart = await startOfficialWorker(fromApart(), variables, {
            ...{ ...options, by: machine.by },
          })
          const begins = async (session: string) => {
            const seen = await service.client.beta.sessions.events.stream(session)
            const gate = newGate()
            await post(service, session, `run: ${gate.wait}; pwd`)
            for await (const event of seen) if (event.type === 'agent.tool_use') break
            await until(async () => (await active(pool)) === 1)
            return gate
          }
          const first = await sessionIn(service, pool)
          const gate = await begins(first)
          await machine.cut()
          await gate.open()
          await delay(2_000)
          await machine.mend()
          await until(async () => (await results(first)).length > 0)
          assert.deepEqual(await results(first), [apart.folder])
          await untilStopped(service, pool)

          const second = await sessionIn(service, pool)
          const last = await begins(second)
          await machine.cut()
          await last.open()
          passed += 91_000
          await using near = await startOfficialWorker(service, variables, options)
          await until(async () => (await results(second)).length > 0)
          await machine.mend()
          await until(() => /\/events.*\b401\b/.test(apart.said()))
          await untilStopped(service, pool)
          assert.deepEqual(await results(second), [near.folder])
        },
      )

    async function active(pool: WorkerPool): Promise<number> {
      const { body } = await service.ask('GET', `${pool.path}/work`)
      return body.data.filter((item) => item['state'] === 'active').length
    }
  })
