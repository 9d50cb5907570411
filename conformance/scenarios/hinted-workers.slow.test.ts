/**
 * The service's signed hints tell workers of queued work. The post between them loses, repeats, delays and reorders
 * hints.
 */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe } from 'node:test'
import type { ReceivedDelivery, TestEndpoint } from '@steward/server/tenants/webhooks/fixture.ts'
import { startTestEndpoint } from '@steward/server/tenants/webhooks/fixture.ts'
import { signedHeaders } from '@steward/server/tenants/webhooks/sign.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { all, post, say, textOf } from '../turns.ts'
import { until } from '../until.ts'
import { verifies } from '../verifies.ts'
import type { WorkerProcess } from '../worker-process.ts'
import { startWorker, workerVariables } from '../worker-process.ts'
import type { WorkerPool } from '../workers.ts'
import { newPool, restsAfter, sessionIn, statesOfWork, untilStopped } from '../workers.ts'

const hintKey = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const otherKey = `whsec_${Buffer.alloc(32, 9).toString('base64')}`
const anHour = '3600'

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`hinted workers on ${database}`, () => {
    let service: TestService
    /** An endpoint in place of the worker: it keeps the service's hints and accepts each of them. */
    let post_: TestEndpoint
    before(async () => {
      post_ = await startTestEndpoint()
      const env = {
        PLATFORM_MANAGED_AGENTS_WEBHOOK_URL: post_.url,
        PLATFORM_MANAGED_AGENTS_WEBHOOK_SIGNING_KEY: hintKey,
      }
      service = await boot(database, { env })
    })
    after(async () => {
      await service.close()
      await post_[Symbol.asyncDispose]()
    })

    const first = {
      ...{ WORKER_LANE: 'ama_worker', WORKER_STRATEGY: 'acquire_then_session_poll' },
      ...{ SANDBOX_PROVIDER: 'local', WORKER_IDLE_SECONDS: '1' },
    }
    /** Starts a worker and waits until its first poll without a hint is over. */
    async function hinted(pool: WorkerPool, env: Record<string, string>): Promise<WorkerProcess> {
      const worker = await startWorker({
        ...workerVariables(service, pool),
        ...{ WORKER_POLL_SECONDS: anHour, WORKER_WEBHOOK_PORT: '0' },
        ...{ WORKER_WEBHOOK_SIGNING_KEY: hintKey, ...env },
      })
      if (env['WORKER_STRATEGY'] === first.WORKER_STRATEGY)
        await worker.until(/"message":"the queue was seen"/)
      return worker
    }

    /** Delivers a hint to a worker and returns the status of the answer. */
    async function bring(
      worker: WorkerProcess,
      { body, headers }: ReceivedDelivery,
    ): Promise<number> {
      const port = /"message":"listening for hints".*?"port":(\d+)/.exec(worker.said())?.[1]
      const sent = Object.entries(headers).filter(([name]) => name.startsWith('webhook-'))
      const answer = await fetch(`http://127.0.0.1:${port}/hints`, {
        ...{ method: 'POST', body },
        headers: sent.map(([name, value]): [string, string] => [name, String(value)]),
      })
      return answer.status
    }
    const idOf = ({ headers }: ReceivedDelivery) => String(headers['webhook-id'])
    const letterOf = async (session: string): Promise<ReceivedDelivery> => {
      for (let count = 1; ; count++) {
        const letters = await post_.came(count)
        const found = letters.find(({ body }) => body.includes(session))
        if (found) return found
      }
    }
    const starts = (worker: WorkerProcess) =>
      worker.said().match(/"message":"a sandbox starts"/g)?.length ?? 0
    const resultsOf = async (session: string) =>
      all(await say(service, session), 'user.tool_result').map((each) => textOf(each).trim())

    verifies(
      [
        'worker/strategy/acquire-first',
        'worker/hint/intent',
        'worker/hint/polls',
        'work/poll-only',
      ],
      'a hint is on the disk when it is answered, starts compute before anything is claimed, and its doubles start nothing',
      async () => {
        const pool = await newPool(service)
        await using worker = await hinted(pool, first)
        const session = await sessionIn(service, pool)
        const letter = await letterOf(session)
        assert.deepEqual(await statesOfWork(service, pool), ['queued'])
        const intent = (state: string) =>
          existsSync(join(worker.dir, 'intents', `${idOf(letter)}.${state}`))
        assert.equal(starts(worker), 0)
        const answers = await Promise.all([1, 2, 3].map(() => bring(worker, letter)))
        assert.deepEqual(answers, [204, 204, 204])
        assert.ok(intent('open') || intent('done'))
        const log = await restsAfter(service, session, 'run: echo by a hint')
        assert.deepEqual(all(log, 'user.tool_result').map(textOf), ['by a hint'])
        await untilStopped(service, pool)
        assert.equal(await bring(worker, letter), 204)
        await until(() => intent('done'))
        assert.equal(starts(worker), 1, worker.said())
        assert.deepEqual(await statesOfWork(service, pool), ['stopped'])
      },
    )

    verifies(
      ['worker/strategy/acquire-first', 'webhooks/harmless'],
      'hints that come in another order, or when the work is done, start one worker for each session and no more',
      async () => {
        const pool = await newPool(service)
        await using worker = await hinted(pool, first)
        const sessions = [await sessionIn(service, pool), await sessionIn(service, pool)]
        const late = await sessionIn(service, pool)
        const letters = await Promise.all(sessions.map(letterOf))
        for (const [n, session] of [...sessions, late].entries())
          await post(service, session, `run: echo ${n}`)
        for (const letter of letters.toReversed()) await bring(worker, letter)
        await untilStopped(service, pool)
        const results = await Promise.all([...sessions, late].map(resultsOf))
        assert.deepEqual(results, [['0'], ['1'], ['2']], worker.said())
        const before = starts(worker)
        assert.equal(await bring(worker, await letterOf(late)), 204)
        await worker.until(new RegExp(`"session":"${late}","isNew":true`))
        const open = join(worker.dir, 'intents', `${idOf(await letterOf(late))}.open`)
        await until(() => !existsSync(open))
        assert.equal(starts(worker), before)
        assert.equal((await statesOfWork(service, pool)).length, 3)
      },
    )

    verifies(
      ['worker/strategy/acquire-first', 'work/poll-interval', 'webhooks/harmless'],
      'when every hint is lost, the poll of a worker every few seconds finds the session',
      async () => {
        const pool = await newPool(service)
        await using worker = await hinted(pool, { ...first, WORKER_POLL_SECONDS: '' })
        const session = await sessionIn(service, pool)
        const log = await restsAfter(service, session, 'run: echo without one')
        assert.deepEqual(all(log, 'user.tool_result').map(textOf), ['without one'])
        assert.doesNotMatch(worker.said(), /"message":"hinted"/)
      },
    )

    verifies(
      'worker/hint/refused',
      'a hint that somebody else signed, or that is stale, is refused and starts nothing',
      async () => {
        const pool = await newPool(service)
        await using worker = await hinted(pool, first)
        const session = await sessionIn(service, pool)
        const { body, ...letter } = await letterOf(session)
        const id = idOf({ body, ...letter })
        const signed = (key: string, at: number) => signedHeaders({ id, body }, [key], at)
        const [forged, stale] = [
          signed(otherKey, Date.now()),
          signed(hintKey, Date.now() - 310_000),
        ]
        const changed = body.replace(session, 'sesn_another')
        for (const wrong of [
          { body, headers: forged },
          { body, headers: stale },
          { body: changed, headers: letter.headers },
        ])
          assert.equal(await bring(worker, { ...letter, ...wrong }), 401)
        await post(service, session, 'run: echo heard')
        assert.equal(await bring(worker, { ...letter, body }), 204)
        await untilStopped(service, pool)
        assert.equal(starts(worker), 1)
        assert.equal(worker.said().match(/"message":"a hint was refused"/g)?.length, 3)
      },
    )

    for (const strategy of ['claim_then_acquire', 'poll_unacked_then_dispatch'])
      verifies(
        'worker/hint/polls',
        `a worker that claims for itself is made to poll at once by a hint, with ${strategy}`,
        async () => {
          const pool = await newPool(service)
          const lane = strategy === 'claim_then_acquire' ? 'openma_supervised' : 'ama_worker'
          const env = { ...first, WORKER_STRATEGY: strategy, WORKER_LANE: lane }
          await using worker = await hinted(pool, env)
          const session = await sessionIn(service, pool)
          await post(service, session, 'run: echo claimed')
          assert.equal(await bring(worker, await letterOf(session)), 204)
          await untilStopped(service, pool)
          assert.deepEqual(await resultsOf(session), ['claimed'], worker.said())
        },
      )
  })
}
