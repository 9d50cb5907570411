/** Every way in which the official worker can lose or keep its claim, and who ends the work item afterwards. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { systemClock } from '@steward/base/time.ts'
import type { WorkerAnswer, WorkerProxy, Interference } from './worker-proxy.ts'
import { startWorkerProxy } from './worker-proxy.ts'
import { officialVersions, poolVariables, startOfficialWorker } from './official-process.ts'
import type { TestService } from './service.ts'
import { boot } from './service.ts'
import { all, post, say, textOf } from './turns.ts'
import { until } from './until.ts'
import { verifies } from './verifies.ts'
import {
  acknowledge,
  newPool,
  poll,
  restsAfter,
  sessionIn,
  statesOfWork,
  tokenOf,
} from './workers.ts'

const isBeat = /heartbeat$/
const isStop = /\/stop$/

/** Shortens the lease of a heartbeat's answer, so that the worker sends a heartbeat each second. */
const often = (answer: WorkerAnswer, ttl_seconds = 2): WorkerAnswer => {
  const body = JSON.parse(answer.body) as Record<string, unknown>
  return answer.status === 200
    ? { ...answer, body: JSON.stringify({ ...body, ttl_seconds }) }
    : answer
}
const beats: Interference = ({ what }, answer) => (isBeat.test(what) ? often(answer) : undefined)

/** Changes the answers to heartbeats and passes all other answers on. */
const beatsAre =
  (how: (answer: WorkerAnswer) => WorkerAnswer | 'silence'): Interference =>
  ({ what }, answer) =>
    isBeat.test(what) ? how(answer) : undefined

for (const version of officialVersions)
  describe(`leases of the official worker ${version}`, () => {
    let service: TestService
    let passed = 0
    before(async () => {
      const clock = { ...systemClock, now: () => Date.now() + passed }
      service = await boot('sqlite', { overrides: { clock } })
    })
    after(() => service.close())

    const as = (token: string) => ({ 'x-api-key': '', authorization: `Bearer ${token}` })

    /** Starts a worker behind the proxy, and waits until it runs a call that lasts a minute. */
    async function inTheMidst(way: WorkerProxy, command = 'sleep 60') {
      way.interfere(beats)
      const pool = await newPool(service)
      const session = await sessionIn(service, pool)
      const worker = await startOfficialWorker(way, poolVariables(pool), {
        version,
        maxIdleMs: 60_000,
      })
      await post(service, session, `run: touch begun; ${command}`)
      await until(() => existsSync(join(worker.folder, 'begun')))
      await way.came(isBeat)
      const { body } = await service.ask('GET', `${pool.path}/work`)
      const work = body.data[0]?.id ?? ''
      const token = way.asked.find(({ what }) => isBeat.test(what))?.token ?? ''
      const state = async () =>
        (await service.ask('GET', `${pool.path}/work/${work}`)).body['state']
      return {
        ...{ pool, session, work, token, worker, state },
        at: `${pool.path}/work/${work}`,
        stops: () => way.asked.filter(({ what }) => isStop.test(what)),
        /** The worker's next poll is the first sign that it has ended the item. */
        gone: () => way.came(/work\/poll$/, polls(way) + 1),
        /** Claims the item for another worker. Returns the token of the new claim. */
        async reclaim() {
          let item: Awaited<ReturnType<typeof poll>>
          // A heartbeat between the end of a lease and the poll extends the lease.
          do {
            passed += 91_000
            item = await poll(service, pool)
          } while (item === null)
          assert.equal(item.id, work)
          await acknowledge(service, pool, work)
          return tokenOf(item.secret)
        },
        results: async () =>
          all(await say(service, session), 'user.tool_result').map((each) => textOf(each).trim()),
      }
    }
    const polls = ({ asked }: WorkerProxy) =>
      asked.filter(({ what }) => what.endsWith('/poll')).length

    verifies(
      ['work/state/stale-heartbeat', 'errors/case/stale-heartbeat', 'work/state/lease-expired'],
      'another has claimed it: the next heartbeat is 412, the call is given up, and the worker stops nothing',
      async () => {
        await using way = await startWorkerProxy(service)
        const mine = await inTheMidst(way)
        await using _worker = mine.worker
        const gone = mine.gone()
        const theirs = await mine.reclaim()
        await gone
        assert.deepEqual(mine.stops(), [])
        assert.equal(await mine.state(), 'starting')
        assert.deepEqual(await mine.results(), [])
        const { session, token } = mine
        const events = `/v1/sessions/${session}/events`
        const log = await say(service, session)
        const call = all(log, 'agent.tool_use')[0]?.id
        const content = [{ type: 'text', text: 'by the other' }]
        const result = { events: [{ type: 'user.tool_result', tool_use_id: call, content }] }
        const answered = async (by: string) =>
          (await service.ask('POST', events, result, as(by))).status
        assert.equal(await answered(token), 401)
        assert.equal(await answered(theirs), 202)
        assert.deepEqual(await mine.results(), ['by the other'])
      },
    )

    verifies(
      'work/stop',
      'it is asked to stop: the worker ends it itself, and open calls wait for another worker',
      async () => {
        await using way = await startWorkerProxy(service)
        const mine = await inTheMidst(way)
        await using _worker = mine.worker
        await service.ask('POST', `${mine.at}/stop`, {})
        await way.came(isStop)
        await until(async () => (await mine.state()) === 'stopped')
        assert.deepEqual(
          mine.stops().map(({ token }) => token),
          [mine.token],
        )
        assert.deepEqual(await statesOfWork(service, mine.pool), ['queued', 'stopped'])
        assert.deepEqual(await mine.results(), [])
      },
    )

    it('a heartbeat that is answered without more time ends the worker, which stops the item', async () => {
      await using way = await startWorkerProxy(service)
      const mine = await inTheMidst(way)
      await using _worker = mine.worker
      way.interfere(
        beatsAre((answer) => {
          const body = JSON.parse(answer.body) as object
          return { status: 200, body: JSON.stringify({ ...body, lease_extended: false }) }
        }),
      )
      await way.came(isStop)
      await until(async () => (await mine.state()) === 'stopped')
      assert.deepEqual(await statesOfWork(service, mine.pool), ['queued', 'stopped'])
    })

    verifies(
      ['work/heartbeat', 'work/stop'],
      'its session has rested for long: the heartbeat says so, the worker ends it, and nothing follows',
      async () => {
        await using way = await startWorkerProxy(service)
        way.interfere(beats)
        const pool = await newPool(service)
        const session = await sessionIn(service, pool)
        const variables = poolVariables(pool)
        await using _worker = await startOfficialWorker(way, variables, {
          version,
          maxIdleMs: 60_000,
        })
        await restsAfter(service, session, 'run: echo done')
        passed += 121_000
        await way.came(isStop)
        while ((await statesOfWork(service, pool))[0] !== 'stopped')
          await new Promise((resolve) => setTimeout(resolve, 20))
        assert.deepEqual(await statesOfWork(service, pool), ['stopped'])
      },
    )

    const refused = beatsAre(() => ({
      status: 401,
      body: '{"type":"error","error":{"type":"authentication_error","message":"no"}}',
    }))

    it('a heartbeat that is refused ends the worker, which stops the item that it still has', async () => {
      await using way = await startWorkerProxy(service)
      const mine = await inTheMidst(way)
      await using _worker = mine.worker
      way.interfere(refused)
      await way.came(isStop)
      await until(async () => (await mine.state()) === 'stopped')
      assert.deepEqual(await statesOfWork(service, mine.pool), ['queued', 'stopped'])
    })

    verifies(
      'auth/claim-token/rotated',
      'a worker that stops an item of another worker does not end it',
      async () => {
        await using way = await startWorkerProxy(service)
        const mine = await inTheMidst(way)
        await using _worker = mine.worker
        const told: number[] = []
        way.interfere((asked, answer) => {
          if (isStop.test(asked.what)) told.push(answer.status)
          return refused(asked, answer)
        })
        const gone = mine.gone()
        await mine.reclaim()
        await gone
        assert.deepEqual(told, [412])
        assert.equal(await mine.state(), 'starting')
      },
    )

    verifies(
      'work/heartbeat',
      'heartbeats whose answers are lost are repeated, and the worker keeps its claim',
      async () => {
        await using way = await startWorkerProxy(service)
        const mine = await inTheMidst(way, 'while [ ! -e enough ]; do sleep 0.1; done; echo kept')
        await using worker = mine.worker
        let count = 0
        way.interfere(({ what }, answer) => {
          if (!isBeat.test(what)) return undefined
          return count++ % 2 === 0 ? 'lost' : often(answer, 4)
        })
        await until(() => count >= 3)
        assert.equal(await mine.state(), 'active')
        await writeFile(join(worker.folder, 'enough'), '')
        await until(async () => (await mine.results()).length > 0)
        assert.deepEqual(await mine.results(), ['kept'])
        assert.deepEqual(mine.stops(), [])
      },
    )

    it('a worker without a heartbeat for a whole lease lets go, and stops nothing', async () => {
      await using way = await startWorkerProxy(service)
      const mine = await inTheMidst(way)
      await using _worker = mine.worker
      way.interfere(beatsAre(() => 'silence'))
      const gone = mine.gone()
      await gone
      assert.deepEqual(mine.stops(), [])
      assert.equal(await mine.state(), 'active')
      assert.deepEqual(await mine.results(), [])
    })

    verifies(
      ['work/state/lease-expired', 'auth/claim-token/rotated', 'service/workers/claim'],
      'after kill -9 in mid call a second worker runs that call once, and the first one’s token opens nothing',
      async () => {
        await using way = await startWorkerProxy(service)
        const again = 'test -e ran || { touch ran; sleep 60; }; echo run again'
        const mine = await inTheMidst(way, again)
        await using worker = mine.worker
        worker.signal('SIGKILL')
        await worker.gone
        passed += 91_000
        const { folder } = worker
        await using _second = await startOfficialWorker(service, poolVariables(mine.pool), {
          ...{ version, folder },
        })
        await until(async () => (await mine.results()).length > 0)
        assert.deepEqual(await mine.results(), ['run again'])
        const by = async (method: string, path: string, body?: object) =>
          (await service.ask(method, path, body, as(mine.token))).status
        assert.equal(await by('GET', `/v1/sessions/${mine.session}/events`), 401)
        assert.equal(await by('POST', `/v1/sessions/${mine.session}/events`, { events: [] }), 401)
        assert.equal(await by('POST', `${mine.at}/heartbeat?expected_last_heartbeat=any`), 412)
        assert.equal(await by('POST', `${mine.at}/stop`, { force: true }), 412)
        const { body } = await service.ask('GET', `${mine.pool.path}/work`)
        assert.equal(body.data.length, 1)
      },
    )
  })
