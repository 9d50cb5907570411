/** Published loops of other people's workers, unchanged: they use fetch, and not the official worker. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe } from 'node:test'
import type { TestEndpoint } from '@steward/server/tenants/webhooks/fixture.ts'
import { startTestEndpoint } from '@steward/server/tenants/webhooks/fixture.ts'
import { systemClock } from '@steward/base/time.ts'
import type { LooseBody, TestService } from './service.ts'
import { poolVariables, startOfficialWorker } from './official-process.ts'
import { boot, scenarioDatabases } from './service.ts'
import { skillText } from './skills.ts'
import type { SeenEvent } from './turns.ts'
import { all, fresh, logOf, post, say, textOf } from './turns.ts'
import { until } from './until.ts'
import { verifies } from './verifies.ts'
import { startWorker, workerVariables } from './worker-process.ts'
import { newPool, sessionIn, statesOfWork, tokenOf } from './workers.ts'

type LoopItem = { id: string; secret: string; data: { id: string } }

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`published worker loops on ${database}`, () => {
    let service: TestService
    let hints: TestEndpoint
    let passed = 0
    before(async () => {
      hints = await startTestEndpoint()
      const clock = { ...systemClock, now: () => Date.now() + passed }
      const env = {
        PLATFORM_MANAGED_AGENTS_WEBHOOK_URL: hints.url,
        PLATFORM_MANAGED_AGENTS_WEBHOOK_SIGNING_KEY: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
      }
      service = await boot(database, { env, overrides: { clock } })
    })
    after(async () => {
      await service.close()
      await hints[Symbol.asyncDispose]()
    })

    /** A program that sends requests with one credential, and with a worker id when it has one. */
    const program = (token: string, name?: string) => {
      const headers: Record<string, string> = { 'x-api-key': '', authorization: `Bearer ${token}` }
      if (name !== undefined) headers['anthropic-worker-id'] = name
      return async <T = LooseBody>(method: string, path: string, body?: object): Promise<T> => {
        const answer = await service.ask<T>(method, path, body, headers)
        assert.ok(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer.body)}`)
        return answer.body
      }
    }
    type LoopProgram = ReturnType<typeof program>

    /** Answers the session's open calls until the session rests. */
    async function serves(ask: LoopProgram, session: string): Promise<void> {
      const events = `/v1/sessions/${session}/events`
      for (;;) {
        const { data } = await ask<{ data: SeenEvent[] }>('GET', `${events}?limit=1000`)
        const answered = new Set(all(data, 'user.tool_result').map((each) => each['tool_use_id']))
        const open = all(data, 'agent.tool_use').filter(({ id }) => !answered.has(id))
        for (const { id } of open) {
          const content = [{ type: 'text', text: `ran ${session}` }]
          await ask('POST', events, {
            events: [{ type: 'user.tool_result', tool_use_id: id, content }],
          })
        }
        const last = data.at(-1)
        const stop = last?.['stop_reason'] as { type: string } | undefined
        if (last?.type === 'session.status_idle' && stop?.type === 'end_turn') return
      }
    }
    const resultsOf = async (session: string) =>
      all(await say(service, session), 'user.tool_result').map(textOf)

    verifies(
      ['work/attempts', 'work/lapsed-last', 'work/state/reservation-expired'],
      'workers that are each made for one session, and do not run claimed items of others, each get their own session',
      async () => {
        const pool = await newPool(service)
        const sessions = [await sessionIn(service, pool), await sessionIn(service, pool)]
        for (const session of sessions) await post(service, session, 'run: ls\nsay: done')
        const wanted = new Map(sessions.map((session) => [session, `worker of ${session}`]))
        const asks = (name: string) =>
          program(pool.key, name)<LoopItem | null>('GET', `${pool.path}/work/poll`)
        // The two workers poll in the wrong order again and again, as if they had started in the same second.
        for (let round = 0; round < 10 && wanted.size > 0; round++) {
          for (const [session, name] of [...wanted].toReversed()) {
            const item = await asks(name)
            if (item?.data.id !== session) continue
            wanted.delete(session)
            const own = program(tokenOf(item.secret))
            const at = `${pool.path}/work/${item.id}`
            await own('POST', `${at}/heartbeat?expected_last_heartbeat=NO_HEARTBEAT`)
            await serves(own, session)
            await own('POST', `${at}/stop`, { force: true })
          }
          passed += 5_001
        }
        assert.deepEqual([...wanted], [])
        for (const session of sessions) {
          assert.deepEqual(await resultsOf(session), [`ran ${session}`])
          assert.deepEqual(all(await logOf(service, session), 'session.error'), [])
        }
      },
    )

    verifies(
      ['auth/environment-key/reach', 'work/acknowledge', 'worker/input/skills'],
      'a worker that has the environment’s key alone runs a whole session by it',
      async () => {
        const pool = await newPool(service)
        const files = [{ filename: 'SKILL.md', content: skillText('greet', 'd', 'Say hello.') }]
        const skill = (await service.ask('POST', '/v1/skills', { files })).body.id
        const made = await service.ask<{ key: string }>('POST', '/v1/ext/api_keys', {
          ...{ name: fresh('worker'), environment_id: pool.environment, reach: 'sessions' },
        })
        const skills = [{ type: 'custom', skill_id: skill, version: 'latest' }]
        const session = await sessionIn(service, pool, { skills })
        await post(service, session, 'run: ls\nsay: done')
        const ask = program(made.body.key)
        const item = await ask<LoopItem | null>('GET', `${pool.path}/work/poll?block_ms=999`)
        assert.equal(item?.data.id, session)
        const at = `${pool.path}/work/${item.id}`
        await ask('POST', `${at}/ack`)
        const beat = await ask('POST', `${at}/heartbeat?expected_last_heartbeat=NO_HEARTBEAT`)
        const seen = await ask('GET', `/v1/sessions/${session}`)
        const { skills: pinned } = seen['agent'] as {
          skills: { skill_id: string; version: string }[]
        }
        const version = await ask('GET', `/v1/skills/${skill}/versions/${pinned[0]?.version}`)
        const by = { 'x-api-key': '', authorization: `Bearer ${made.body.key}` }
        const content = `/v1/skills/${skill}/versions/${version.id}/content`
        const zip = await service.raw('GET', content, undefined, by)
        assert.equal(zip.status, 200)
        assert.ok((await zip.arrayBuffer()).byteLength > 0)
        const events = `/v1/sessions/${session}/events/stream`
        const stream = await service.raw('GET', events, undefined, by)
        assert.equal(stream.status, 200)
        await serves(ask, session)
        await stream.body?.cancel()
        const last = encodeURIComponent(String(beat['last_heartbeat']))
        await ask('POST', `${at}/heartbeat?expected_last_heartbeat=${last}`)
        await ask('POST', `${at}/stop`, { force: true })
        assert.deepEqual(await resultsOf(session), [`ran ${session}`])
        assert.deepEqual(await statesOfWork(service, pool), ['stopped'])
      },
    )

    verifies(
      ['work/lapsed', 'work/state/lease-expired'],
      'a worker that polls for hints alone gets another hint when the worker that had its session is lost',
      async () => {
        const pool = await newPool(service)
        const session = await sessionIn(service, pool)
        const hinted = () => hints.letters.filter(({ body }) => body.includes(session)).length
        const another = async (count: number) => until(() => hinted() >= count)
        const polls = (name: string) =>
          program(pool.key, name)<LoopItem | null>('GET', `${pool.path}/work/poll`)
        await another(1)
        await post(service, session, 'run: ls\nsay: done')
        const lost = await polls('lost before it began')
        assert.equal(lost?.data.id, session)
        passed += 5_001
        await another(2)
        const killed = await polls('killed in the midst')
        assert.equal(killed?.id, lost.id)
        await program(pool.key)('POST', `${pool.path}/work/${killed.id}/ack`)
        passed += 91_000
        await another(3)
        const { body } = await service.ask('GET', `${pool.path}/work/stats`)
        assert.deepEqual([body['depth'], body['pending']], [1, 0])
        const item = await polls('the next')
        assert.equal(item?.id, lost.id)
        const own = program(tokenOf(item.secret))
        await serves(own, session)
        await own('POST', `${pool.path}/work/${item.id}/stop`, { force: true })
        assert.deepEqual(await resultsOf(session), [`ran ${session}`])
        assert.equal(hinted(), 3)
      },
    )

    verifies(
      ['work/lapsed', 'worker/strategy/acquire-first'],
      'a worker that starts compute for enqueued work resumes the session of a killed worker',
      async () => {
        const pool = await newPool(service)
        const session = await sessionIn(service, pool)
        await using lost = await startOfficialWorker(service, poolVariables(pool), {
          maxIdleMs: 60_000,
        })
        const again = 'test -e begun && echo resumed || { touch begun; sleep 60; }'
        await post(service, session, `run: cd ${lost.folder}; ${again}\nsay: done`)
        await until(() => existsSync(join(lost.folder, 'begun')))
        lost.signal('SIGKILL')
        await lost.gone
        await using worker = await startWorker({
          ...workerVariables(service, pool),
          ...{ WORKER_LANE: 'ama_worker', WORKER_STRATEGY: 'acquire_then_session_poll' },
          ...{ SANDBOX_PROVIDER: 'local', WORKER_IDLE_SECONDS: '1' },
        })
        await worker.until(/"message":"the queue was seen"/)
        assert.doesNotMatch(worker.said(), /a sandbox starts/)
        passed += 91_000
        await until(async () => (await resultsOf(session)).length > 0)
        assert.deepEqual(
          (await resultsOf(session)).map((text) => text.trim()),
          ['resumed'],
        )
      },
    )
  })
}
