/** The unmodified worker of the official client, on its own environment. */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import { systemClock } from '@steward/base/time.ts'
import { primaryThreadId } from '@steward/server/ground/core/text/ids.ts'
import { openStream } from '../reader.ts'
import { boot, scenarioDatabases } from '../service.ts'
import type { TestService } from '../service.ts'
import type { SeenEvent } from '../turns.ts'
import { all, fresh, idleOf, message, only, post, say, textOf, turn } from '../turns.ts'
import { until } from '../until.ts'
import { verifies } from '../verifies.ts'
import type { WorkerPool } from '../workers.ts'
import {
  claimedSession,
  newPool,
  poll,
  restsAfter,
  sessionIn,
  statesOfWork,
  tokenOf,
  untilStopped,
} from '../workers.ts'

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`workers on ${database}`, () => {
    let service: TestService
    let pool: WorkerPool
    let folder: string
    let passed = 0
    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'steward-workers-'))
      const clock = { ...systemClock, now: () => Date.now() + passed }
      service = await boot(database, { overrides: { clock } })
    })
    after(async () => {
      await service.close()
      await rm(folder, { recursive: true, force: true })
    })

    /** Starts a worker with no key except the key of its environment. */
    async function working(maxIdleMs = 200) {
      pool = await newPool(service)
      const stop = new AbortController()
      const client = new Anthropic({ baseURL: service.base, apiKey: null, authToken: null })
      const worker = client.beta.environments.work.worker({
        ...{ environmentId: pool.environment, environmentKey: pool.key },
        ...{ workdir: folder, signal: stop.signal, maxIdleMs },
      })
      const ended = worker.run()
      return {
        ended,
        async [Symbol.asyncDispose]() {
          stop.abort()
          await ended
        },
      }
    }

    const answered = (session: string, text: string) => restsAfter(service, session, text)

    verifies(
      [
        'service/workers/claim',
        'events/type/user-tool-result',
        'work/poll',
        'work/token-per-claim',
        'work/poll-only',
      ],
      'the official worker runs the tools of a session, and the brain stays here',
      async () => {
        await using _worker = await working()
        const session = await sessionIn(service, pool)
        const commands = 'run: echo from the worker > made; cat made\nread: made\nsay: done'
        const log = await answered(session, commands)
        const results = all(log, 'user.tool_result').map(textOf)
        assert.deepEqual(
          results.map((text) => text.trim()),
          ['from the worker', 'from the worker'],
        )
        assert.equal(await readFile(join(folder, 'made'), 'utf8'), 'from the worker\n')
        assert.deepEqual(all(log, 'agent.tool_result'), [])
        assert.equal(log.at(-1)?.type, 'session.status_idle')
      },
    )

    verifies(
      ['threads/cross-post', 'threads/children', 'threads/interrupts', 'threads/stream'],
      'the official worker runs the calls of children, and a person denies and interrupts others',
      async () => {
        await using _worker = await working()
        const toolset = { type: 'agent_toolset_20260401' as const }
        const asks = { default_config: { permission_policy: { type: 'always_ask' as const } } }
        const make = (name: string, more: object) =>
          service.client.beta.agents.create({ name, model: 'offline', ...more })
        const child = await make('child', { tools: [toolset] })
        const asker = await make('asker', { tools: [{ ...toolset, ...asks }] })
        const multiagent = { type: 'coordinator', agents: [child.id, asker.id] }
        const session = await sessionIn(service, pool, { name: 'boss', multiagent })
        const start = (agent: string, commands: string) =>
          `call create_agent ${JSON.stringify({ agent, message: commands })}`
        const both = [
          start('child', 'run: echo of a child > child; cat child\nsay: it ran'),
          start('asker', 'run: echo never > asked\nrun: echo never > asked\nsay: so be it'),
          'say: they work',
        ]
        await post(service, session, both.join('\n'))
        const named = (log: readonly SeenEvent[], name: string) =>
          all(log, 'session.thread_created').find((each) => each['agent_name'] === name)?.[
            'session_thread_id'
          ]
        /** The asker's first call for which alone the session waits, except the call `settled`. */
        const asked = async (settled?: string) => {
          let id: string | undefined
          await until(async () => {
            const log = await say(service, session)
            const stop = log.at(-1)?.['stop_reason'] as { event_ids?: string[] } | undefined
            const calls = log.filter((each) => stop?.event_ids?.includes(each.id))
            const isAskers = calls.every(
              (each) => each['session_thread_id'] === named(log, 'asker'),
            )
            id = isAskers ? calls[0]?.id : undefined
            return id !== undefined && id !== settled
          })
          return id ?? ''
        }
        const first = await asked()
        const denial = { type: 'user.tool_confirmation', tool_use_id: first } as const
        await post(service, session, { ...denial, result: 'deny', deny_message: 'not this' })
        await asked(first)
        const log = await say(service, session)
        const ran = all(log, 'user.tool_result').map((each) => [
          each['session_thread_id'],
          textOf(each).trim(),
        ])
        assert.deepEqual(ran, [[named(log, 'child'), 'of a child']])
        const session_thread_id = String(named(log, 'asker'))
        const threads = service.client.beta.sessions.threads
        const own = async () =>
          (
            await Array.fromAsync(threads.events.list(session_thread_id, { session_id: session }))
          ).map((each) => ({ ...each }) as SeenEvent)
        const results = async () => all(await own(), 'agent.tool_result').map(textOf)
        assert.match((await results()).join(), /denied by the user.*: not this/)
        const last = await turn(service, session, { type: 'user.interrupt', session_thread_id })
        assert.deepEqual(idleOf(last), { stop_reason: { type: 'end_turn' } })
        assert.match((await results())[1] ?? '', /interrupted before it had a result/)
        assert.equal(all(await own(), 'agent.message').length, 0)
        const closed = all(await say(service, session), 'agent.tool_result').at(-1)
        assert.equal(closed?.['session_thread_id'], session_thread_id)
        await assert.rejects(readFile(join(folder, 'asked')), { code: 'ENOENT' })
        const [begin, ...rest] = await own()
        const path = `/v1/sessions/${session}/threads/${session_thread_id}/stream`
        const headers = { 'last-event-id': String(begin?.['seq']) }
        await using reader = await openStream(service, path, { headers })
        await until(() => reader.frames.length >= rest.length)
        assert.deepEqual(
          reader.frames.map(({ data }) => data['id']),
          rest.map(({ id }) => id),
        )
        await service.client.beta.sessions.update(session, { agent: { tools: [] } })
        const primary = await threads.retrieve(primaryThreadId(session), { session_id: session })
        assert.deepEqual('tools' in primary.agent && primary.agent.tools, [])
        // The worker holds an unconfirmed call until the call's thread ends.
        await threads.archive(session_thread_id, { session_id: session })
        await untilStopped(service, pool)
      },
    )

    verifies(
      [
        'worker/input/skills',
        'worker/input/memory-stores',
        'worker/input/read-only',
        'auth/claim-token/opens',
      ],
      'the official worker mounts skills and memory stores, and writes only to those that are writable',
      async () => {
        const beta = { 'vendor-beta': 'agent-memory-2026-07-22' }
        const store = async (name: string) => {
          const { body } = await service.ask('POST', '/v1/memory_stores', { name }, beta)
          const path = `/v1/memory_stores/${body.id}/memories`
          await service.ask('POST', path, { path: '/note.md', content: 'as it was' }, beta)
          return { id: body.id, path }
        }
        const mine = [await store(fresh('write')), await store(fresh('read'))]
        const head = '---\nname: greeting\ndescription: d\n---\nSay hello.'
        const skill = await service.ask('POST', '/v1/skills', {
          files: [{ filename: 'SKILL.md', content: head }],
        })
        await using _worker = await working()
        const skills = [{ type: 'custom', skill_id: skill.body.id, version: 'latest' }]
        const session = await sessionIn(
          service,
          pool,
          { skills },
          {
            resources: mine.map(({ id }, index) => ({
              type: 'memory_store',
              memory_store_id: id,
              access: index === 0 ? 'read_write' : 'read_only',
            })),
          },
        )
        const shown = await service.ask('GET', `/v1/sessions/${session}`)
        const mounts = (shown.body['resources'] as { mount_path: string }[]).map(
          ({ mount_path }) => mount_path,
        )
        const writes = mounts.map((mount) => `echo changed > ${mount}/note.md`).join('; ')
        const log = await answered(session, `run: cat skills/*/SKILL.md; ${writes}`)
        assert.match(textOf(only(log, 'user.tool_result')), /Say hello/)
        await untilStopped(service, pool)
        const contents = await Promise.all(
          mine.map(async ({ path }) => {
            const { body } = await service.ask('GET', `${path}?view=full`, undefined, beta)
            return body.data[0]?.['content']
          }),
        )
        assert.deepEqual(contents, ['changed\n', 'as it was'])
      },
    )

    it('a second message starts the worker again that has ended', async () => {
      await using _worker = await working()
      const session = await sessionIn(service, pool)
      await answered(session, 'run: echo one')
      await untilStopped(service, pool)
      const log = await answered(session, 'run: echo two')
      assert.deepEqual(
        all(log, 'user.tool_result').map((each) => textOf(each).trim()),
        ['one', 'two'],
      )
      assert.equal((await statesOfWork(service, pool)).length, 2)
    })

    it('a call that asks is held until it is confirmed, and is then the worker’s', async () => {
      await using _worker = await working(5_000)
      const policy = { permission_policy: { type: 'always_ask' } }
      const tools = [{ type: 'agent_toolset_20260401', default_config: policy }]
      const session = await sessionIn(service, pool, { tools })
      const asked = only(await turn(service, session, 'run: echo allowed'), 'agent.tool_use')
      const log = await restsAfter(service, session, {
        ...{ type: 'user.tool_confirmation', tool_use_id: asked.id, result: 'allow' },
      })
      assert.equal(textOf(only(log, 'user.tool_result')).trim(), 'allowed')
    })

    verifies(
      ['work/views', 'work/acknowledge', 'work/state/reserved'],
      'items are listed, got, counted and marked, and their secret is shown to the poller alone',
      async () => {
        pool = await newPool(service)
        const session = await sessionIn(service, pool)
        const stats = async () => (await service.ask('GET', `${pool.path}/work/stats`)).body
        assert.deepEqual([(await stats())['depth'], (await stats())['pending']], [1, 0])
        const item = await poll(service, pool)
        assert.ok(item)
        assert.equal(item.data.id, session)
        assert.match(tokenOf(item.secret), /^stw_claim_/)
        assert.deepEqual([(await stats())['depth'], (await stats())['pending']], [0, 1])
        assert.equal(await poll(service, pool), null)
        const { work } = service.client.beta.environments
        const own = { authToken: pool.key, apiKey: null }
        const worker = new Anthropic({ baseURL: service.base, ...own }).beta.environments.work
        const environment_id = pool.environment
        const acknowledged = await worker.ack(item.id, { environment_id })
        assert.equal(acknowledged.state, 'starting')
        const marked = await work.update(item.id, { environment_id, metadata: { a: '1' } })
        assert.deepEqual(marked.metadata, { a: '1' })
        for (const each of [await work.retrieve(item.id, { environment_id })])
          assert.deepEqual([each.secret, each.metadata], [null, { a: '1' }])
        for await (const each of work.list(environment_id)) assert.equal(each.secret, null)
        const stopped = await work.stop(item.id, { environment_id, force: true })
        assert.equal(stopped.state, 'stopped')
      },
    )

    verifies(
      [
        'auth/claim-token/rotated',
        'auth/claim-token/expired-beats',
        'auth/claim-token/expired-no-events',
        'limits/work-reclaim',
      ],
      'a lease that has run out ends what its worker may do, and a reclaim ends all of it',
      async () => {
        pool = await newPool(service)
        const mine = await claimedSession(service, pool)
        const at = `${pool.path}/work/${mine.work}`
        const by = async (token: string, method: string, path: string, body?: object) =>
          service.ask(method, path, body, { 'x-api-key': '', authorization: `Bearer ${token}` })
        const beat = (token: string, expected: string) =>
          by(token, 'POST', `${at}/heartbeat?expected_last_heartbeat=${expected}`)
        const first = await beat(mine.token, 'NO_HEARTBEAT')
        assert.equal(first.status, 200)
        passed += 91_000
        const events = `/v1/sessions/${mine.session}/events`
        assert.equal((await by(mine.token, 'POST', events, { events: [] })).status, 401)
        assert.equal((await by(mine.token, 'GET', events)).status, 401)
        const late = await beat(mine.token, String(first.body['last_heartbeat']))
        assert.equal(late.body['lease_extended'], true)
        assert.equal((await by(mine.token, 'GET', events)).status, 200)
        passed += 91_000
        const item = await poll(service, pool)
        assert.equal(item?.id, mine.work)
        const other = tokenOf(item.secret)
        assert.equal((await by(other, 'GET', events)).status, 200)
        for (const path of [events, `/v1/sessions/${mine.session}`])
          assert.equal((await by(mine.token, 'GET', path)).status, 401)
        const stale = await beat(mine.token, String(late.body['last_heartbeat']))
        assert.equal(stale.status, 412)
      },
    )

    it('a poll that waits is woken by the session that has work', async () => {
      pool = await newPool(service)
      const waiting = poll(service, pool, '?block_ms=999')
      const began = performance.now()
      const session = await sessionIn(service, pool)
      assert.equal((await waiting)?.data.id, session)
      assert.ok(performance.now() - began < 900)
    })

    it('a session that no worker takes reports that, and archived work ends', async () => {
      pool = await newPool(service)
      const session = await sessionIn(service, pool)
      const stream = await service.client.beta.sessions.events.stream(session)
      await service.client.beta.sessions.events.send(session, { events: [message('run: ls')] })
      passed += 61_000
      for await (const event of stream) {
        if (event.type !== 'session.error') continue
        assert.match(event.error.message, /no worker of environment/)
        break
      }
      assert.equal((await say(service, session)).at(-1)?.type, 'session.status_idle')
      await service.client.beta.sessions.events.send(session, {
        events: [{ type: 'user.interrupt' }],
      })
      await service.client.beta.sessions.archive(session)
      const { body } = await service.ask('GET', `${pool.path}/work`)
      assert.equal(body.data[0]?.['state'], 'stopped')
    })
  })
}
