/** Sessions of the official worker from end to end, with its newest and its first version. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import FirstAnthropic from '@anthropic-ai/sdk-0.120'
import { systemClock } from '@steward/base/time.ts'
import {
  itemVariables,
  officialVersions,
  poolVariables,
  startOfficialWorker,
} from './official-process.ts'
import type { TestService } from './service.ts'
import { boot, scenarioDatabases } from './service.ts'
import type { SeenEvent } from './turns.ts'
import { all, fresh, post, say, textOf } from './turns.ts'
import { verifies } from './verifies.ts'
import type { WorkerPool } from './workers.ts'
import { newPool, poll, restsAfter, sessionIn, untilStopped } from './workers.ts'

const beta = { 'vendor-beta': 'agent-memory-2026-07-22' }

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`the official workers on ${database}`, () => {
    let service: TestService
    let passed = 0
    before(async () => {
      const clock = { ...systemClock, now: () => Date.now() + passed }
      service = await boot(database, { overrides: { clock } })
    })
    after(() => service.close())

    const resultsIn = (log: readonly SeenEvent[]) =>
      all(log, 'user.tool_result').map((each) => textOf(each).trim())

    /** A session with a skill and a memory store of one note. */
    async function sessionWithInputs(pool: WorkerPool) {
      const store = await service.ask('POST', '/v1/memory_stores', { name: fresh('store') }, beta)
      const notes = `/v1/memory_stores/${store.body.id}/memories`
      await service.ask('POST', notes, { path: '/note.md', content: 'as it was' }, beta)
      const content = '---\nname: greeting\ndescription: d\n---\nSay hello.'
      const skill = await service.ask('POST', '/v1/skills', {
        files: [{ filename: 'SKILL.md', content }],
      })
      const skills = [{ type: 'custom', skill_id: skill.body.id, version: 'latest' }]
      const resources = [
        { type: 'memory_store', memory_store_id: store.body.id, access: 'read_write' },
      ]
      const session = await sessionIn(service, pool, { skills }, { resources })
      const shown = await service.ask('GET', `/v1/sessions/${session}`)
      const [{ mount_path: mount }] = shown.body['resources'] as [{ mount_path: string }]
      const kept = async () => {
        const { body } = await service.ask('GET', `${notes}?view=full`, undefined, beta)
        return Object.fromEntries(body.data.map((each) => [each['path'], each['content']]))
      }
      return { session, mount, kept }
    }

    for (const version of officialVersions) {
      verifies(
        [
          'service/workers/claim',
          'worker/input/skills',
          'worker/input/memory-stores',
          'events/type/user-tool-result',
          'turns/idle-last',
        ],
        `${version}: a session with a skill and a store runs its tools and keeps its notes, and nothing is enqueued at its end`,
        async () => {
          const pool = await newPool(service)
          const { session, mount, kept } = await sessionWithInputs(pool)
          await using worker = await startOfficialWorker(service, poolVariables(pool), { version })
          const log = await restsAfter(
            service,
            session,
            [
              'run: tail -1 skills/*/SKILL.md',
              'write made: first line',
              'call edit {"file_path": "made", "old_string": "first", "new_string": "only"}',
              'read: made',
              `run: cat ${mount}/note.md; echo changed > ${mount}/note.md; echo new > ${mount}/more.md`,
              'say: done',
            ].join('\n'),
          )
          const [skill, , , read, note] = resultsIn(log)
          assert.equal(skill, 'Say hello.', worker.said())
          assert.match(read ?? '', /only line/)
          assert.equal(note, 'as it was')
          assert.ok(all(log, 'user.tool_result').every(({ is_error }) => is_error !== true))
          assert.deepEqual(all(log, 'agent.tool_result'), [])
          assert.equal(log.at(-1)?.type, 'session.status_idle')
          assert.equal(await readFile(join(worker.folder, 'made'), 'utf8'), 'only line')
          await untilStopped(service, pool)
          assert.deepEqual(await kept(), { '/note.md': 'changed\n', '/more.md': 'new\n' })
          const stats = await service.ask('GET', `${pool.path}/work/stats`)
          assert.deepEqual([stats.body['depth'], stats.body['pending']], [0, 0])
          worker.signal('SIGTERM')
          assert.equal(await worker.gone, 0, worker.said())
        },
      )

      verifies(
        ['work/state/first-heartbeat', 'work/token-per-claim', 'worker/input/memory-stores'],
        `${version}: an item that was only polled is run by its variables alone${version === '1.14.0' ? ', without any key' : ''}`,
        async () => {
          const pool = await newPool(service)
          const { session, mount, kept } = await sessionWithInputs(pool)
          const item = await poll(service, pool, '?reclaim_older_than_ms=600000')
          assert.ok(item)
          // The first version requires the variable of the environment key, and does not use the key when it has a
          // claim.
          const variables = itemVariables(pool, item)
          if (version === '0.120.0') variables['ANTHROPIC_ENVIRONMENT_KEY'] = 'stw_env_none'
          await post(service, session, `run: echo by its claim > ${mount}/note.md; echo done`)
          await using worker = await startOfficialWorker(service, variables, { version })
          assert.equal(await worker.gone, 0, worker.said())
          assert.deepEqual(resultsIn(await say(service, session)), ['done'])
          assert.deepEqual(await kept(), { '/note.md': 'by its claim\n' })
          const { body } = await service.ask('GET', `${pool.path}/work/${item.id}`)
          assert.equal(body['state'], 'stopped')
          assert.ok(body['acknowledged_at'])
        },
      )
    }

    const pollers = {
      '1.14.0': () => new Anthropic({ baseURL: service.base, apiKey: null, authToken: null }),
      '0.120.0': () => new FirstAnthropic({ baseURL: service.base, apiKey: null, authToken: null }),
    }
    for (const version of officialVersions)
      it(`${version}: its poller drains all items, a second poller sees none, and items that nobody acknowledged come back`, async () => {
        const pool = await newPool(service)
        const drained = async () => {
          const { work } = pollers[version]().beta.environments
          const items = work.poller({
            ...{ environmentId: pool.environment, environmentKey: pool.key },
            ...{ drain: true, blockMs: null, autoStop: false },
          })
          const sessions: string[] = []
          for await (const item of items) sessions.push(item.data.id)
          return sessions
        }
        assert.deepEqual(await drained(), [])
        const made = [await sessionIn(service, pool), await sessionIn(service, pool)]
        const left = await sessionIn(service, pool)
        const reserved = await poll(service, pool)
        assert.equal(reserved?.data.id, made[0])
        assert.deepEqual(await drained(), [made[1], left])
        assert.deepEqual(await drained(), [])
        passed += 5_001
        assert.deepEqual(await drained(), [made[0]])
        const stats = await service.ask('GET', `${pool.path}/work/stats`)
        assert.deepEqual([stats.body['depth'], stats.body['pending']], [0, 0])
      })
  })
}
