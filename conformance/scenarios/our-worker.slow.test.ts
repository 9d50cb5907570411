/** Our worker and the service, each in its own process. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { stubService } from '@steward/worker/service-fixture.ts'
import type { ServerProcess } from '../process.ts'
import { startServer } from '../process.ts'
import { openStream } from '../reader.ts'
import type { ServiceClients } from '../service.ts'
import { clientsOf } from '../service.ts'
import type { SeenEvent } from '../turns.ts'
import { all, fresh, newSession, post, say, textOf, turn } from '../turns.ts'
import { verifies } from '../verifies.ts'
import { startWorker, workerVariables } from '../worker-process.ts'
import { newPool, poll, restsAfter, sessionIn, statesOfWork } from '../workers.ts'

const harnessFixture = fileURLToPath(
  import.meta.resolve('@steward/worker/supervisor/harness-fixture.ts'),
)

describe('our worker', () => {
  let folder: string
  let server: ServerProcess
  let service: ServiceClients
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'steward-our-worker-'))
    server = await startServer({ DATA_DIR: folder })
    service = clientsOf(server.base)
  })
  after(async () => {
    await server.kill()
    await rm(folder, { recursive: true, force: true })
  })

  const answered = (session: string, text: string) => restsAfter(service, session, text)
  const resultsIn = (log: readonly SeenEvent[]) =>
    all(log, 'user.tool_result').map((each) => textOf(each).trim())

  const work = 'run: echo from elsewhere > made; cat made; env\nread: made\nsay: done'

  /** Asserts that the session's tools run, and that a command sees no credential. Returns the log. */
  async function serves(env: Record<string, string>): Promise<SeenEvent[]> {
    const pool = await newPool(service)
    await using worker = await startWorker({ ...workerVariables(service, pool), ...env })
    const session = await sessionIn(service, pool)
    const log = await answered(session, work)
    const [first = '', second] = resultsIn(log)
    assert.match(first, /^from elsewhere\n/, worker.said())
    assert.equal(second, 'from elsewhere')
    assert.doesNotMatch(first, /stw_(env|claim)_/)
    assert.equal(await worker.stop(), 0, worker.said())
    assert.doesNotMatch(worker.said(), /stw_(env|claim)_/)
    const items = await service.ask('GET', `${pool.path}/work`)
    assert.ok(items.body.data.every((item) => item['state'] === 'stopped'))
    return log
  }

  verifies(
    ['worker/strategy/claim-then-acquire', 'worker/lane/supervised'],
    'a supervised harness runs the tools of a session, with the results of the service itself',
    async () => {
      const elsewhere = resultsIn(await serves({}))[1]
      const here = await newSession(service, { tools: [{ type: 'agent_toolset_20260401' }] })
      const log = await turn(service, here, 'write made: from elsewhere\nread: made')
      assert.equal(textOf(all(log, 'agent.tool_result').at(-1) as SeenEvent).trim(), elsewhere)
    },
  )

  verifies(
    ['worker/command-output', 'events/ext/tool-output-workers'],
    'a supervised harness reports the output of a running command while somebody listens',
    async () => {
      const pool = await newPool(service)
      await using worker = await startWorker(workerVariables(service, pool))
      const session = await sessionIn(service, pool)
      const stream = `/v1/sessions/${session}/events/stream`
      await using wished = await openStream(service, `${stream}?include=chunks`)
      await using plain = await openStream(service, stream)
      const command = 'echo one; echo two >&2; until [ -e never ]; do sleep 0.1; done'
      const input = { command, timeout_ms: 5_000 }
      await post(service, session, `call bash ${JSON.stringify(input)}`)
      const chunk = 'agent.tool_use_output_chunk'
      const text = () =>
        all(
          wished.frames.map(({ data }) => data),
          chunk,
        )
          .map(({ delta }) => String(delta))
          .join('')
      await wished.until(() => text() === 'one\ntwo\n')
      for (const each of [wished, plain])
        await each.until(({ type }) => type === 'session.status_idle')
      const seen = plain.frames.map(({ data }) => data)
      assert.deepEqual(all(seen, chunk), [])
      const [call] = all(seen, 'agent.tool_use')
      const [first] = wished.frames.flatMap(({ data }) => (data.type === chunk ? data : []))
      assert.deepEqual([first?.['tool_use_id'], first?.['offset']], [call?.id, 0])
      assert.equal(await worker.stop(), 0, worker.said())
    },
  )

  verifies(
    'worker/lane/ama-worker',
    'the official worker does in a sandbox, when it was claimed for it',
    async () => {
      await serves({ WORKER_LANE: 'ama_worker' })
    },
  )

  verifies(
    'worker/strategy/poll-unacked',
    'the official worker acknowledges its reserved item by its first heartbeat',
    async () => {
      const strategy = { WORKER_STRATEGY: 'poll_unacked_then_dispatch' }
      await serves({ WORKER_LANE: 'ama_worker', ...strategy })
    },
  )

  it('the official worker claims for itself in a sandbox that was started for waiting work', async () => {
    const strategy = { WORKER_STRATEGY: 'acquire_then_session_poll' }
    await serves({ WORKER_LANE: 'ama_worker', ...strategy })
  })

  it('both lanes run on a machine that has nothing to isolate them with', async () => {
    const local = { SANDBOX_PROVIDER: 'local' }
    await serves(local)
    await serves({ ...local, WORKER_LANE: 'ama_worker' })
  })

  verifies(
    [
      'worker/variable/environment-id',
      'worker/variable/environment-key',
      'worker/variable/session-id',
      'worker/variable/work-id',
      'worker/variable/work-secret',
      'worker/variable/base-url',
      'worker/variable/prefix',
      'worker/variable/no-parent-key',
    ],
    'a runtime receives six variables under one prefix, and nothing of the worker’s own',
    async () => {
      const parent = { API_KEY: 'parent', ANTHROPIC_API_KEY: 'parent', VENDOR_API_KEY: 'parent' }
      const names = ['BASE_URL', 'ENVIRONMENT_ID', 'ENVIRONMENT_KEY', 'SESSION_ID', 'WORK_ID']
      const told = (prefix: string) => [...names, 'WORK_SECRET'].map((name) => `${prefix}_${name}`)
      const pool = await newPool(service)
      const env = { ...parent, ...workerVariables(service, pool) }
      await using official = await startWorker({ ...env, WORKER_LANE: 'ama_worker' })
      const session = await sessionIn(service, pool)
      const names_ = `tr '\\0' '\\n' < /proc/$PPID/environ | cut -d= -f1 | sort | xargs`
      const [seen = ''] = resultsIn(await answered(session, `run: ${names_}`))
      const found = seen.split(' ').filter((name) => /VENDOR|ANTHROPIC|KEY|WORKER/.test(name))
      assert.deepEqual(found, told('ANTHROPIC'))
      await official.stop()

      const harness = JSON.stringify([process.execPath, harnessFixture, 'variables'])
      await using supervised = await startWorker({ ...env, WORKER_HARNESS: harness })
      const other = await sessionIn(service, pool)
      await supervised.until(/"event":"variables"/)
      const line = supervised.said().match(/.*"event":"variables".*/)?.[0] ?? '{}'
      const {
        time: _time,
        level: _level,
        message: _message,
        session: _session,
        event: _event,
        ...rest
      } = JSON.parse(line) as Record<string, string>
      assert.deepEqual(Object.keys(rest).toSorted(), ['PATH', ...told('VENDOR')].toSorted())
      assert.equal(rest['VENDOR_SESSION_ID'], other)
      assert.equal(rest['VENDOR_BASE_URL'], service.base)
      // The worker's log hides values of variables with secret names, even when a harness logs them.
      assert.equal(rest['VENDOR_WORK_SECRET'], '[redacted]')
    },
  )

  verifies(
    ['work/poll-interval', 'limits/poll-interval'],
    'a worker asks when it starts and then every five seconds, without a setting',
    async () => {
      await using stub = await stubService()
      const told = { ...workerVariables({ base: stub.url }, unusedPool), WORKER_POLL_SECONDS: '' }
      await using _worker = await startWorker(told)
      await stub.until('GET work/poll', 2)
      const [first = 0, second = 0] = stub.polls
      assert.ok(Math.abs(second - first - 5_000) < 500, `${second - first}`)
    },
  )

  verifies(
    ['work/state/start-failed', 'errors/case/start-failed'],
    'of a session that cannot be read nothing is started or stopped, and a harness that does not start gives its item up to others',
    async () => {
      await using stub = await stubService()
      stub.session.status = 404
      stub.queue.push({ work: 'work_1', session: 'sesn_1' })
      await using reader = await startWorker(workerVariables({ base: stub.url }, unusedPool))
      await reader.until(/the item was left/)
      assert.deepEqual(
        stub.asked.filter((what) => /stop$|heartbeat$/.test(what)),
        [],
      )
      assert.doesNotMatch(reader.said(), /harness/)

      const pool = await newPool(service)
      const harness = JSON.stringify([process.execPath, harnessFixture, 'refuses'])
      const env = { WORKER_HARNESS: harness, WORKER_LEASE_SECONDS: '10' }
      await using starter = await startWorker({ ...workerVariables(service, pool), ...env })
      const session = await sessionIn(service, pool)
      await starter.until(/"how":"refused"/)
      await starter.stop()
      let item = await poll(service, pool)
      assert.equal(item, null)
      while (!item) item = await poll(service, pool, '?block_ms=999')
      assert.equal(item.data.id, session)
    },
  )

  verifies(
    'worker/lane/supervised-412',
    'a worker whose claim another has taken aborts its harness, and stops nothing of the other’s',
    async () => {
      const pool = await newPool(service)
      const env = { ...workerVariables(service, pool), WORKER_LEASE_SECONDS: '10' }
      await using worker = await startWorker(env)
      const session = await sessionIn(service, pool)
      await post(service, session, 'run: sleep 60')
      await worker.until(/"event":"call_started"/)
      worker.pause()
      let item = null
      while (!item) item = await poll(service, pool, '?block_ms=999&reclaim_older_than_ms=600000')
      worker.resume()
      await worker.until(/"why":"aborted: lease_lost"/)
      // The harness ends with the lease, or with the heartbeat that is refused.
      await worker.until(/"message":"the harness ended"/)
      const { body } = await service.ask('GET', `${pool.path}/work/${item.id}`)
      assert.equal(body['state'], 'queued')
      assert.deepEqual(all(await say(service, session), 'user.tool_result'), [])
    },
  )

  it('kill -9 in mid call: the next worker runs that call once more, and its result is there once', async () => {
    const pool = await newPool(service)
    const env = { ...workerVariables(service, pool), WORKER_LEASE_SECONDS: '10' }
    await using first = await startWorker(env)
    const session = await sessionIn(service, pool)
    const done = answered(session, 'run: echo ran >> runs; sleep 2; wc -l < runs\nrun: cat runs')
    await first.until(/"event":"call_started"/)
    await first.kill()
    await using second = await startWorker(env)
    const log = await done
    const [lines = '', ran] = resultsIn(log)
    assert.match(lines, /^1\n.*no checkpoint of it exists/, second.said())
    assert.equal(ran, 'ran')
    assert.equal(second.said().match(/"event":"call_started"/g)?.length, 2)
  })

  it('SIGTERM: a running call is finished and kept, and the session goes on at another worker', async () => {
    const pool = await newPool(service)
    const env = workerVariables(service, pool)
    await using first = await startWorker(env)
    const session = await sessionIn(service, pool)
    const done = answered(session, 'run: sleep 2; echo finished\nrun: echo at the other')
    await first.until(/"event":"call_started"/)
    assert.equal(await first.stop(), 0, first.said())
    assert.match(first.said(), /"event":"call_posted","tool_use_id":"\w+","posted":true/)
    await using second = await startWorker(env)
    const [finished, other = ''] = resultsIn(await done)
    assert.equal(finished, 'finished')
    assert.match(other, /^at the other\n.*was restored/, second.said())
  })

  for (const lane of ['openma_supervised', 'ama_worker'])
    it(`SIGTERM: a call that takes too long is given up without a result, and its session is free at once, by ${lane}`, async () => {
      const pool = await newPool(service)
      const own = { WORKER_LANE: lane, WORKER_STOP_SECONDS: '5' }
      await using worker = await startWorker({ ...workerVariables(service, pool), ...own })
      const session = await sessionIn(service, pool)
      const seen = await service.client.beta.sessions.events.stream(session)
      await post(service, session, 'run: sleep 40')
      for await (const event of seen) if (event.type === 'agent.tool_use') break
      while ((await statesOfWork(service, pool))[0] !== 'active') await delay(50)
      if (lane === 'openma_supervised') await worker.until(/"event":"call_started"/)
      assert.equal(await worker.stop(), 0, worker.said())
      assert.deepEqual(all(await say(service, session), 'user.tool_result'), [])
      assert.deepEqual(await statesOfWork(service, pool), ['queued', 'stopped'], worker.said())
    })

  /** An agent with a skill, and a resource of one memory store with one note. */
  async function agentWithInputs() {
    const beta = { 'vendor-beta': 'agent-memory-2026-07-22' }
    const store = await service.ask('POST', '/v1/memory_stores', { name: fresh('store') }, beta)
    const notes = `/v1/memory_stores/${store.body.id}/memories`
    await service.ask('POST', notes, { path: '/note.md', content: 'as it was' }, beta)
    const content = '---\nname: greeting\ndescription: d\n---\nSay hello.'
    const files = [
      { filename: 'SKILL.md', content },
      { filename: 'run.sh', content: 'echo ran' },
    ]
    const skill = await service.ask('POST', '/v1/skills', { files })
    return {
      agent: { skills: [{ type: 'custom', skill_id: skill.body.id, version: 'latest' }] },
      stores: {
        resources: [{ type: 'memory_store', memory_store_id: store.body.id, access: 'read_write' }],
      },
      note: async () =>
        (await service.ask('GET', `${notes}?view=full`, undefined, beta)).body.data[0]?.['content'],
    }
  }

  verifies(
    ['worker/input/skills', 'worker/input/memory-stores'],
    'the official worker mounts skills and memory stores in our sandbox, and writes the stores back',
    async () => {
      const { agent, stores, note } = await agentWithInputs()
      const pool = await newPool(service)
      const env = { ...workerVariables(service, pool), WORKER_LANE: 'ama_worker' }
      await using worker = await startWorker({ ...env, WORKER_IDLE_SECONDS: '1' })
      const session = await sessionIn(service, pool, agent, stores)
      const shown = await service.ask('GET', `/v1/sessions/${session}`)
      const [{ mount_path: at }] = shown.body['resources'] as [{ mount_path: string }]
      const command = `run: tail -1 skills/*/SKILL.md; cat ${at}/note.md; echo changed > ${at}/note.md`
      const log = await answered(session, command)
      assert.deepEqual(resultsIn(log), ['Say hello.as it was'], worker.said())
      await worker.until(/the official worker ended/)
      assert.equal(await note(), 'changed\n')
    },
  )

  verifies(
    'worker/input/skills',
    'the supervised lane mounts skills, whatever the session wrote at their paths',
    async () => {
      const { agent } = await agentWithInputs()
      const pool = await newPool(service)
      const env = { ...workerVariables(service, pool), WORKER_IDLE_SECONDS: '1' }
      await using worker = await startWorker(env)
      const session = await sessionIn(service, pool, agent)
      const command = 'run: tail -1 skills/*/SKILL.md; sh skills/*/run.sh; ls -d skills/*'
      const first = resultsIn(await answered(session, command))
      assert.match(first[0] ?? '', /^Say hello\.ran\nskills\/\w+$/, worker.said())
      await answered(session, 'run: rm -rf skills; ln -s /tmp skills')
      await worker.until(/"how":"done"/)
      const results = resultsIn(await answered(session, command))
      assert.equal(results.at(-1), first[0])
    },
  )

  it('one worker runs several sessions at once, apart from each other', async () => {
    const pool = await newPool(service)
    await using worker = await startWorker(workerVariables(service, pool))
    const sessions = await Promise.all([0, 1, 2].map(() => sessionIn(service, pool)))
    const logs = await Promise.all(
      sessions.map((session, n) => answered(session, `run: echo ${n} > own; sleep 1; cat own; ls`)),
    )
    assert.deepEqual(logs.map(resultsIn), [['0\nown'], ['1\nown'], ['2\nown']], worker.said())
  })
})

const unusedPool = { environment: 'env_1', path: '', key: 'none', keyId: '' }
