/** A caller that lost its claim can change nothing: its open requests, its streams and its dead worker are tested. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { after, before, describe } from 'node:test'
import { systemClock } from '@steward/base/time.ts'
import { itemVariables, poolVariables, startOfficialWorker } from './official-process.ts'
import { boot, scenarioDatabases } from './service.ts'
import type { TestService } from './service.ts'
import { all, fresh, post, say, textOf } from './turns.ts'
import { until } from './until.ts'
import { verifies } from './verifies.ts'
import { newPool, poll, sessionIn, statesOfWork, tokenOf } from './workers.ts'

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`ownership on ${database}`, () => {
    let service: TestService
    let passed = 0
    before(async () => {
      const clock = { ...systemClock, now: () => Date.now() + passed }
      service = await boot(database, { overrides: { clock } })
    })
    after(() => service.close())

    const bearer = (token: string) => ({
      ...{ 'x-api-key': '', authorization: `Bearer ${token}` },
      'vendor-beta': 'agent-memory-2026-07-22',
    })

    async function owned(session: object = {}) {
      const pool = await newPool(service)
      const id = await sessionIn(service, pool, {}, session)
      const item = await poll(service, pool)
      assert.equal(item?.data.id, id)
      return {
        ...{ pool, session: id, work: item.id, token: tokenOf(item.secret) },
        /** Runs the official worker for this item until it ends. The worker has the claim's variables and no key. */
        async handle() {
          await using worker = await startOfficialWorker(service, itemVariables(pool, item))
          await worker.gone
        },
        state: async () => (await service.ask('GET', `${pool.path}/work/${item.id}`)).body['state'],
        /** Lets another worker claim the item. */
        async lose() {
          passed += 6_000
          assert.equal((await poll(service, pool))?.id, item.id)
        },
      }
    }

    /** Starts a request that the service admits before the body is complete. The caller sends the rest later. */
    async function slow(path: string, token: string) {
      const headers = { ...bearer(token), 'content-type': 'application/json' }
      const sending = request(`${service.base}${path}`, { method: 'POST', headers })
      const answered = new Promise<number | undefined>((resolve, reject) => {
        sending.on('response', ({ statusCode }) => resolve(statusCode)).on('error', reject)
      })
      sending.write('{')
      while (!sending.socket?.bytesWritten) await new Promise((resolve) => setImmediate(resolve))
      await new Promise((resolve) => setTimeout(resolve, 100))
      return (rest: object) => {
        sending.end(JSON.stringify(rest).slice(1))
        return answered
      }
    }

    verifies(
      ['auth/claim-token/rotated', 'auth/claim-token/checked-live'],
      'requests that a worker began while it had the claim are refused when it has lost it',
      async () => {
        const beta = { 'vendor-beta': 'agent-memory-2026-07-22' }
        const named = { name: fresh('store') }
        const { body } = await service.ask('POST', '/v1/memory_stores', named, beta)
        const attached = { type: 'memory_store', memory_store_id: body.id, access: 'read_write' }
        const mine = await owned({ resources: [attached] })
        const memories = `/v1/memory_stores/${body.id}/memories`
        const send = await slow(memories, mine.token)
        const answer = await slow(`/v1/sessions/${mine.session}/events`, mine.token)
        await mine.lose()
        assert.equal(await send({ path: '/late', content: 'of one that has gone' }), 401)
        const result = { type: 'user.tool_result', tool_use_id: 'sevt_any', content: [] }
        assert.equal(await answer({ events: [result] }), 401)
        const kept = await service.ask('GET', memories, undefined, beta)
        assert.deepEqual(kept.body.data, [])
      },
    )

    verifies(
      ['work/state/first-heartbeat', 'work/token-per-claim'],
      'the official worker handles an item that was claimed and not acknowledged, without any key',
      async () => {
        const mine = await owned()
        await post(service, mine.session, 'run: echo by its claim')
        await mine.handle()
        assert.deepEqual(await results(mine.session), ['by its claim'])
        assert.equal(await mine.state(), 'stopped')
      },
    )

    verifies(
      ['work/state/stale-heartbeat', 'errors/case/stale-heartbeat'],
      'the official worker of a lost claim ends, and does not end the worker that follows',
      async () => {
        const mine = await owned()
        await mine.lose()
        await post(service, mine.session, 'run: echo nobody')
        await mine.handle()
        assert.equal(await mine.state(), 'queued')
        assert.deepEqual(await results(mine.session), [])
      },
    )

    verifies(
      ['work/heartbeat', 'work/stop'],
      'the official worker ends with the heartbeat that asks it to stop',
      async () => {
        const mine = await owned()
        const path = `${mine.pool.path}/work/${mine.work}`
        await service.ask('POST', `${path}/ack`, undefined, bearer(mine.pool.key))
        await service.ask('POST', `${path}/stop`, {})
        assert.equal(await mine.state(), 'stopping')
        await mine.handle()
        assert.equal(await mine.state(), 'stopped')
      },
    )

    const results = async (session: string) =>
      all(await say(service, session), 'user.tool_result').map((event) => textOf(event).trim())

    async function inTheMidst(text: string) {
      const pool = await newPool(service)
      const session = await sessionIn(service, pool)
      const first = await startOfficialWorker(service, poolVariables(pool))
      await post(service, session, text)
      await until(
        () => existsSync(join(first.folder, 'begun')),
        () => first.said(),
      )
      // A heartbeat that is open when the worker dies would renew the lease after the clock was moved forward.
      await until(
        async () => (await statesOfWork(service, pool)).includes('active'),
        () => first.said(),
      )
      return { pool, session, first }
    }

    /** Starts another worker in the first worker's folder, and waits until the open call has a result. */
    async function goOn({ pool, session, first }: Awaited<ReturnType<typeof inTheMidst>>) {
      const { folder } = first
      // On a slow machine the worker must not leave the session early.
      await using second = await startOfficialWorker(service, poolVariables(pool), {
        ...{ folder, maxIdleMs: 60_000 },
      })
      await until(
        async () => (await results(session)).length > 0,
        async () => [second.said(), (await service.ask('GET', `${pool.path}/work`)).body.data],
      )
      assert.deepEqual(await results(session), ['run again'])
    }

    // The command takes a minute the first time, and ends at once when it runs again.
    const long = 'run: test -e begun || { touch begun; sleep 60; }; echo run again'

    verifies(
      ['work/state/lease-expired', 'service/workers/claim'],
      'a worker that is killed in the midst of a tool is followed by another, and the call has one result',
      async () => {
        const left = await inTheMidst(long)
        await using first = left.first
        first.signal('SIGKILL')
        await first.gone
        passed += 91_000
        await goOn(left)
        const { body } = await service.ask('GET', `${left.pool.path}/work`)
        assert.equal(body.data.length, 1)
      },
    )

    verifies(
      'work/stop',
      'a worker that is stopped in the midst of a tool gives its session up to another worker',
      async () => {
        const left = await inTheMidst(long)
        await using first = left.first
        first.signal('SIGTERM')
        await first.gone
        assert.deepEqual(await statesOfWork(service, left.pool), ['queued', 'stopped'])
        passed += 60_000
        await goOn(left)
      },
    )

    verifies(
      'auth/claim-token/rotated',
      'a stream that a worker follows ends with its claim',
      async () => {
        const mine = await owned()
        const path = `/v1/sessions/${mine.session}/events/stream`
        const stream = await service.raw('GET', path, undefined, bearer(mine.token))
        assert.equal(stream.status, 200)
        const read = stream.text()
        await mine.lose()
        await read
        const again = await service.raw('GET', path, undefined, bearer(mine.token))
        assert.equal(again.status, 401)
      },
    )
  })
}
