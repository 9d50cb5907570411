/** The duration of a claim, its acknowledgement, and work that nobody claims. */
import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { boot, scenarioDatabases } from '../service.ts'
import type { LooseBody, TestService } from '../service.ts'
import { poolVariables, startOfficialWorker } from '../official-process.ts'
import { all, fresh, post, say, types } from '../turns.ts'
import { until } from '../until.ts'
import { verifies } from '../verifies.ts'
import { claimedSession, newPool, poll, restsAfter, sessionIn, statesOfWork } from '../workers.ts'

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`claims of work on ${database}`, () => {
    let service: TestService
    before(async () => void (service = await boot(database)))
    after(() => service.close())

    const by = (token: string, method: string, path: string) =>
      service.ask(method, path, undefined, { 'x-api-key': '', authorization: `Bearer ${token}` })

    verifies(
      'work/heartbeat/ttl',
      'a lease is as long as its worker asks, within bounds, and the answer says so',
      async () => {
        const pool = await newPool(service)
        const mine = await claimedSession(service, pool)
        const at = `${pool.path}/work/${mine.work}/heartbeat`
        const granted = async (query: string) =>
          (await by(pool.key, 'POST', `${at}${query}`)).body['ttl_seconds']
        assert.equal(await granted(''), 90)
        for (const [asked, given] of [
          [1, 10],
          [10, 10],
          [60, 60],
          [300, 300],
          [301, 300],
        ])
          assert.equal(await granted(`?desired_ttl_seconds=${asked}`), given)
        const none = await by(pool.key, 'POST', `${at}?desired_ttl_seconds=0`)
        assert.equal(none.status, 400)
      },
    )

    verifies(
      'work/acknowledge-once',
      'of two workers the one that claimed an item acknowledges it, as often as it likes',
      async () => {
        const pool = await newPool(service)
        const named = { name: fresh('worker'), environment_id: pool.environment }
        const { body } = await service.ask<LooseBody & { key: string }>(
          'POST',
          '/v1/ext/api_keys',
          named,
        )
        await sessionIn(service, pool)
        const work = (await poll(service, pool))?.id ?? ''
        const acks = async (key: string, worker?: string) => {
          const headers: Record<string, string> = {
            'x-api-key': '',
            authorization: `Bearer ${key}`,
          }
          if (worker !== undefined) headers['anthropic-worker-id'] = worker
          const path = `${pool.path}/work/${work}/ack`
          return (await service.ask('POST', path, undefined, headers)).status
        }
        assert.equal(await acks(body.key), 409, 'by another key')
        assert.deepEqual([await acks(pool.key, 'one'), await acks(pool.key, 'one')], [200, 200])
        assert.equal(await acks(pool.key, 'two'), 409, 'under another name')
        assert.equal(await acks(body.key), 409)
        assert.equal(await acks(pool.key), 200)
      },
    )

    verifies(
      ['turns/idle-last', 'sessions/update/announced'],
      'a session that is changed while it rests repeats that it rests, and its worker ends',
      async () => {
        const pool = await newPool(service)
        const session = await sessionIn(service, pool)
        await using worker = await startOfficialWorker(service, poolVariables(pool), {
          maxIdleMs: 1_000,
        })
        await restsAfter(service, session, 'run: echo done')
        await service.ask('POST', `/v1/sessions/${session}`, { title: fresh('title') })
        assert.deepEqual(types(await say(service, session)).slice(-3), [
          ...['session.updated', 'session.usage', 'session.status_idle'],
        ])
        await until(async () =>
          (await statesOfWork(service, pool)).every((state) => state === 'stopped'),
        )
        await service.ask('POST', `/v1/sessions/${session}`, { title: null })
        await restsAfter(service, session, 'run: echo again')
        await until(async () =>
          (await statesOfWork(service, pool)).every((state) => state === 'stopped'),
        )
        worker.signal('SIGTERM')
        assert.equal(await worker.gone, 0)
      },
    )

    verifies(
      ['work/state/start-failed', 'work/not-begun'],
      'a worker that cannot begin a session reports it, once in the same words, and gives it up to others',
      async () => {
        const pool = await newPool(service)
        const mine = await claimedSession(service, pool, 'run: ls')
        await mine.call()
        const tells = async (message: string) => {
          const path = `/v1/ext/inputs/${mine.session}/failure`
          const headers = { 'x-api-key': '', authorization: `Bearer ${mine.token}` }
          return (await service.ask('POST', path, { message }, headers)).body['told']
        }
        const said = [await tells('no disk'), await tells('no disk'), await tells('no bash')]
        assert.deepEqual(said, [true, false, true])
        const log = await say(service, mine.session)
        assert.equal(log.at(-1)?.type, 'session.status_idle')
        const errors = all(log, 'session.error').map(({ error }) => error as LooseBody)
        assert.deepEqual(
          errors.map(({ type, retry_status }) => [type, retry_status]),
          [1, 2].map(() => ['unknown_error', { type: 'retrying' }]),
        )
        assert.match(String(errors[0]?.['message']), /could not begin: no disk/)
        assert.deepEqual(await statesOfWork(service, pool), ['queued'])
      },
    )

    verifies(
      'work/withdrawn',
      'a turn that ends with nothing left to do enqueues nothing to claim',
      async () => {
        const pool = await newPool(service)
        const session = await sessionIn(service, pool)
        const rests = async (text: string) => {
          await restsAfter(service, session, text)
          assert.equal(await poll(service, pool), null)
          assert.deepEqual(
            await statesOfWork(service, pool).then((all) => new Set(all)),
            new Set(['stopped']),
          )
        }
        await rests('say: hello')
        await rests('say: once more')
        const stream = await service.client.beta.sessions.events.stream(session)
        await post(service, session, 'run: ls')
        for await (const event of stream) if (event.type === 'session.status_idle') break
        await service.client.beta.sessions.events.send(session, {
          events: [{ type: 'user.interrupt' }],
        })
        await until(async () =>
          (await statesOfWork(service, pool)).every((state) => state === 'stopped'),
        )
      },
    )
  })
}
