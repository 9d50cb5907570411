/** The official worker with large stores, other writers, missing skills and turns that are over. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { systemClock } from '@steward/base/time.ts'
import { startWorkerProxy } from './worker-proxy.ts'
import {
  itemVariables,
  officialVersions,
  poolVariables,
  startOfficialWorker,
} from './official-process.ts'
import type { TestService } from './service.ts'
import { boot } from './service.ts'
import { all, fresh, textOf, turn } from './turns.ts'
import { until } from './until.ts'
import { verifies } from './verifies.ts'
import {
  acknowledge,
  newPool,
  poll,
  restsAfter,
  sessionIn,
  statesOfWork,
  untilStopped,
} from './workers.ts'

for (const version of officialVersions)
  describe(`inputs of the official worker ${version}`, () => {
    let service: TestService
    let passed = 0
    before(async () => {
      const clock = { ...systemClock, now: () => Date.now() + passed }
      service = await boot('sqlite', { overrides: { clock } })
    })
    after(() => service.close())

    const stores = () => service.client.beta.memoryStores
    async function sessionWith(files: Record<string, string>) {
      const store = (await stores().create({ name: fresh('store') })).id
      for (const [path, content] of Object.entries(files))
        await stores().memories.create(store, { path, content })
      const pool = await newPool(service)
      const resources = [{ type: 'memory_store', memory_store_id: store, access: 'read_write' }]
      const session = await sessionIn(service, pool, {}, { resources })
      const shown = await service.ask('GET', `/v1/sessions/${session}`)
      const [{ mount_path: mount }] = shown.body['resources'] as [{ mount_path: string }]
      const held = async () => {
        const found: Record<string, string> = {}
        for await (const each of stores().memories.list(store, { view: 'full' }))
          if (each.type === 'memory') found[each.path] = each.content ?? ''
        return found
      }
      return { store, pool, session, mount, held }
    }
    const results = (log: Awaited<ReturnType<typeof restsAfter>>) =>
      all(log, 'user.tool_result').map((each) => textOf(each).trim())

    verifies(
      ['worker/input/memory-stores', 'memories/list'],
      'a store of more than a page comes whole; forty new files, a change and a deletion go back',
      async () => {
        const names = Array.from({ length: 121 }, (_, n) => `/n${n}`)
        const files = Object.fromEntries(names.map((name) => [name, `text of ${name}`]))
        const { pool, session, mount, held } = await sessionWith(files)
        await using worker = await startOfficialWorker(service, poolVariables(pool), { version })
        const commands = [
          `cd ${mount}; find . -name 'n*' | wc -l; cat n120`,
          'for i in $(seq 40); do echo $i > new$i; done; echo changed > n7; rm n8',
        ]
        const log = await restsAfter(service, session, commands.map((c) => `run: ${c}`).join('\n'))
        assert.match(results(log)[0] ?? '', /^121\s+text of \/n120$/, worker.said())
        await untilStopped(service, pool)
        const after_ = await held()
        assert.equal(Object.keys(after_).length, 121 + 40 - 1)
        assert.equal(after_['/n7'], 'changed\n')
        assert.equal(after_['/n8'], undefined)
        for (let n = 1; n <= 40; n++) assert.equal(after_[`/new${n}`], `${n}\n`)
      },
    )

    verifies(
      ['memories/precondition', 'memory-versions/audit'],
      'memories that somebody else wrote meanwhile are not overwritten unseen',
      async () => {
        const { store, pool, session, mount, held } = await sessionWith({
          '/a': 'one',
          '/b': 'two',
        })
        await using _worker = await startOfficialWorker(service, poolVariables(pool), {
          ...{ version, maxIdleMs: 2_000 },
        })
        await restsAfter(service, session, `run: cat ${mount}/a`)
        const { data } = await stores().memories.list(store)
        const of = (path: string) =>
          data.find((each) => each.type === 'memory' && each.path === path)
        const theirs = of('/a')
        assert.ok(theirs?.type === 'memory')
        await stores().memories.update(theirs.id, { memory_store_id: store, content: 'by another' })
        await restsAfter(service, session, `run: echo mine > ${mount}/a; echo mine > ${mount}/b`)
        await untilStopped(service, pool)
        assert.equal((await held())['/b'], 'mine\n')
        const made = []
        for await (const each of stores().memoryVersions.list(store, {
          memory_id: theirs.id,
          view: 'full',
        }))
          made.push(each.content)
        assert.ok(made.includes('by another'), JSON.stringify(made))
        assert.ok(['by another', 'mine\n'].includes((await held())['/a'] ?? ''))
      },
    )

    it('a skill that cannot be fetched is omitted, and the session goes on with the others', async () => {
      const skill = async (name: string) => {
        const content = `---\nname: ${name}\ndescription: d\n---\nThis is ${name}.`
        const files = [{ filename: 'SKILL.md', content }]
        return (await service.ask('POST', '/v1/skills', { files })).body.id
      }
      const [missing, there] = [await skill('missing'), await skill('present')]
      await using way = await startWorkerProxy(service)
      const body = '{"type":"error","error":{"type":"not_found_error","message":"gone"}}'
      way.interfere(({ what }) => (what.includes(missing) ? { status: 404, body } : undefined))
      const pool = await newPool(service)
      const skills = [missing, there].map((skill_id) => ({
        ...{ type: 'custom', skill_id, version: 'latest' },
      }))
      const session = await sessionIn(service, pool, { skills })
      await using worker = await startOfficialWorker(way, poolVariables(pool), { version })
      const log = await restsAfter(service, session, 'run: tail -qn 1 skills/*/SKILL.md')
      assert.deepEqual(results(log), ['This is present.'], worker.said())
      assert.match(worker.said(), new RegExp(missing))
    })

    verifies(
      ['turns/idle-last', 'work/heartbeat'],
      'attached after a turn in which the service itself ran tools, it is ended by the service’s patience',
      async () => {
        await using way = await startWorkerProxy(service)
        way.interfere(({ what }, answer) => {
          if (!what.endsWith('/heartbeat') || answer.status !== 200) return undefined
          const beat = JSON.parse(answer.body) as object
          return { status: 200, body: JSON.stringify({ ...beat, ttl_seconds: 2 }) }
        })
        const pool = await newPool(service)
        const session = await sessionIn(service, pool)
        const item = await poll(service, pool, '?reclaim_older_than_ms=600000')
        assert.ok(item)
        await acknowledge(service, pool, item.id)
        const log = await turn(service, session, 'call web_fetch {"url": "no url"}\nsay: done')
        assert.equal(all(log, 'agent.tool_result').length, 1)
        const variables = itemVariables(pool, item)
        if (version === '0.120.0') variables['ANTHROPIC_ENVIRONMENT_KEY'] = 'stw_env_none'
        await using worker = await startOfficialWorker(way, variables, { version })
        await until(() => /events\?\S* succeeded/.test(worker.said()))
        // Four heartbeats take longer than the worker waits after the end of a turn that it has seen.
        await way.came(/\/heartbeat$/, 4)
        assert.deepEqual(await statesOfWork(service, pool), ['active'])
        passed += 121_000
        await untilStopped(service, pool)
        assert.equal((await service.ask('GET', `${pool.path}/work`)).body.data.length, 1)
        assert.equal(await worker.gone, 0)
        assert.match(worker.said(), /heartbeat signals shutdown/)
      },
    )
  })

describe('the official tool runner', () => {
  it('ends half a second after each turn, also where the service ran tools in it', async () => {
    const service = await boot('sqlite')
    try {
      const session = await sessionIn(service, await newPool(service))
      for (const text of ['first', 'second']) {
        const runner = service.client.beta.sessions.events.toolRunner(session, {
          ...{ tools: [], maxIdleMs: 500 },
        })
        const ended = Array.fromAsync(runner)
        await turn(service, session, `call web_fetch {"url": "no url"}\nsay: ${text}`)
        const calls = await ended
        assert.ok(calls.every(({ name, posted }) => name === 'web_fetch' && !posted))
      }
    } finally {
      await service.close()
    }
  })
})
