/** MCP servers that a session's worker starts: reports of simulated workers, and our worker with real servers. */
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { after, before, describe, it } from 'node:test'
import { processesHolding } from '@steward/sandbox/fixture.ts'
import { systemClock } from '@steward/base/time.ts'
import { declaredServer, writeServer } from '@steward/worker/harness/stdio/server-fixture.ts'
import { callTool, errorsOf } from '../mcp.ts'
import { startServer } from '../process.ts'
import type { ServiceClients, TestService } from '../service.ts'
import { boot, clientsOf, scenarioDatabases } from '../service.ts'
import type { SeenEvent } from '../turns.ts'
import { all, logOf, only, post, say, textOf, types } from '../turns.ts'
import { verifies } from '../verifies.ts'
import { startWorker, workerVariables } from '../worker-process.ts'
import type { WorkerPool } from '../workers.ts'
import { newPool, poll, sessionIn, tokenOf } from '../workers.ts'

const echo = {
  name: 'echo',
  description: 'says it back',
  input_schema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
}
const well = (name: string, ...tools: object[]) => ({ name, tools: [echo, ...tools], error: null })
const local = declaredServer('local', 4001)

/** Repeats `ask` until it returns a value. */
async function soon<T>(ask: () => Promise<T | undefined>): Promise<T> {
  for (let tries = 0; tries < 600; tries++) {
    const found = await ask()
    if (found !== undefined) return found
    await delay(25)
  }
  throw new Error('not there after fifteen seconds')
}

const logWith = (
  service: ServiceClients,
  session: string,
  type: string,
  times = 1,
): Promise<SeenEvent[]> =>
  soon(async () => {
    const log = await say(service, session)
    return all(log, type).length >= times ? log : undefined
  })

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`stdio servers on ${database}`, () => {
    let service: TestService
    let pool: WorkerPool
    let passed = 0
    before(async () => {
      const clock = { ...systemClock, now: () => Date.now() + passed }
      service = await boot(database, { overrides: { clock } })
    })
    after(() => service.close())

    const begun = async (text: string, agent: object = {}): Promise<string> => {
      pool = await newPool(service)
      const session = await sessionIn(service, pool, { mcp_servers: [local], ...agent })
      await post(service, session, text)
      await logWith(service, session, 'session.status_running')
      return session
    }

    /** Claims the session and returns a worker that the test controls. */
    async function claim(session: string, query = '?reclaim_older_than_ms=600000') {
      const item = await poll(service, pool, query)
      assert.equal(item?.data.id, session)
      const headers = { 'x-api-key': '', authorization: `Bearer ${tokenOf(item.secret)}` }
      const ask = (path: string, body: object) => service.raw('POST', path, body, headers)
      const own = `/v1/sessions/${session}`
      return {
        session: () => service.ask('GET', own, undefined, headers),
        report: async (...servers: object[]) =>
          (await ask(`/v1/ext/stdio-servers/${session}`, { servers })).status,
        async answers(text: string) {
          const open = await soon(async () => {
            const log = await say(service, session)
            const done = all(log, 'user.tool_result').map((each) => each['tool_use_id'])
            return all(log, 'agent.tool_use').find(({ id }) => !done.includes(id))
          })
          const content = [{ type: 'text', text }]
          const result = { type: 'user.tool_result', tool_use_id: open.id, content }
          const { status } = await ask(`${own}/events`, { events: [result] })
          assert.equal(status, 202)
          return open
        },
      }
    }

    verifies(
      ['mcp/stdio/waits', 'mcp/stdio/tools', 'mcp/stdio/reported'],
      'a turn asks its model when the worker has said what there is, and the worker runs the calls',
      async () => {
        const session = await begun(`${callTool('mcp__local__echo', { text: 'hi' })}\nsay: done`)
        const worker = await claim(session)
        assert.ok(!types(await logOf(service, session)).includes('span.model_request_start'))
        const { body } = await worker.session()
        const [shown] = (body['agent'] as { mcp_servers: object[] }).mcp_servers
        assert.deepEqual(shown, local)
        assert.equal(await worker.report(well('local'), well('of nobody')), 204)
        const made = await worker.answers('hi back')
        assert.equal(made['name'], 'mcp__local__echo')
        assert.equal(made['executed_by'], 'worker')
        const log = await logWith(service, session, 'agent.message')
        assert.deepEqual(errorsOf(log), [])
        await soon(
          async () =>
            types(await say(service, session)).at(-1) === 'session.status_idle' || undefined,
        )

        // The same worker still has the claim, so the service does not wait. It now uses the newest report.
        const other = { ...echo, name: 'other' }
        assert.equal(await worker.report({ ...well('local'), tools: [other] }), 204)
        await post(service, session, callTool('mcp__local__other', { text: 'x' }))
        assert.equal((await worker.answers('yes'))['name'], 'mcp__local__other')
      },
    )

    verifies(
      'mcp/stdio/policies',
      'a person is asked as for any server, and a call that was denied is closed',
      async () => {
        const tools = [{ type: 'mcp_toolset', mcp_server_name: 'local' }]
        const lines = [
          callTool('mcp__local__echo', { text: 'a' }),
          callTool('mcp__local__echo', {}),
        ]
        const session = await begun(`${lines.join('\n')}\nsay: done`, { tools })
        const worker = await claim(session)
        await worker.report(well('local'))
        const confirm = async (n: number, result: 'allow' | 'deny') => {
          const log = await logWith(service, session, 'agent.tool_use', n)
          const asked = all(log, 'agent.tool_use').at(-1)
          assert.equal(asked?.['evaluated_permission'], 'ask')
          await logWith(service, session, 'session.status_idle', n)
          await post(service, session, {
            ...{ type: 'user.tool_confirmation', tool_use_id: asked?.id ?? '', result },
          })
        }
        await confirm(1, 'allow')
        await worker.answers('allowed')
        await confirm(2, 'deny')
        const log = await logWith(service, session, 'agent.message')
        assert.match(textOf(only(log, 'agent.tool_result')), /denied by the user/)
        assert.equal(all(log, 'agent.mcp_tool_result').length, 0)
      },
    )

    verifies(
      ['mcp/stdio/failed', 'mcp/stdio/reported'],
      'a server that did not start is an error of the session, and the turn goes on without it',
      async () => {
        const ways = declaredServer('ways', 4002)
        const agent = { mcp_servers: [local, ways] }
        const session = await begun(callTool('mcp__local__echo', { text: 'x' }), agent)
        const worker = await claim(session)
        await worker.report({ name: 'local', tools: null, error: 'local has no legs' })
        const log = await logWith(service, session, 'agent.message')
        const of = 'mcp_connection_failed_error'
        assert.deepEqual(errorsOf(log), [
          `${of} local local has no legs`,
          `${of} ways the MCP server ways cannot be used: the worker of this session does not know of it`,
        ])
        assert.match(textOf(only(log, 'agent.message')), /mcp__local__echo/)
        assert.deepEqual(all(log, 'agent.tool_use'), [])

        // The service keeps an error between turns for the next turn, and shows an error during a turn at once.
        await logWith(service, session, 'session.status_idle')
        await worker.report({ ...well('local'), error: 'it was away' }, well('ways'))
        assert.equal(errorsOf(await say(service, session)).length, 2)
        await post(service, session, callTool('mcp__local__echo', { text: 'x' }))
        await logWith(service, session, 'agent.tool_use')
        await logWith(service, session, 'session.status_idle', 2)
        await worker.report({ ...well('local'), error: 'it was away again' }, well('ways'))
        const later = await say(service, session)
        assert.equal(errorsOf(later).at(-1), `${of} local it was away again`)
        assert.equal(later.at(-1)?.type, 'session.status_idle')
        await worker.answers('x')
      },
    )

    verifies(
      ['mcp/stdio/overdue', 'mcp/stdio/waits'],
      'a worker that says nothing is waited for within a time, and nobody for as long as it takes',
      async () => {
        const session = await begun('say: done')
        passed += 120_000
        await delay(6_000)
        assert.deepEqual(all(await say(service, session), 'agent.message'), [])
        await claim(session)
        passed += 20_000 + 31_000
        const log = await logWith(service, session, 'agent.message')
        const [unclaimed = '', overdue = ''] = errorsOf(log)
        assert.match(unclaimed, /no worker of environment/)
        assert.match(overdue, /local .*has not said within 50 seconds/)
        assert.deepEqual(all(await logOf(service, session), 'session.warning'), [])
      },
    )

    verifies(
      'mcp/stdio/claim-only',
      'only the current claim reports the servers, of its own session, and in the right form',
      async () => {
        const session = await begun('say: done')
        const first = await claim(session)
        const deep = { ...echo, input_schema: { x: 'x'.repeat(1_100_000) } }
        for (const wrong of [
          [{ name: 'local' }],
          [{ name: 'local', tools: null, error: null }],
          [well('local'), well('local')],
          [{ ...well('local'), tools: Array.from({ length: 501 }, () => echo) }],
          [well('local', deep)],
        ])
          assert.equal(await first.report(...wrong), 400)
        await delay(20)
        const second = await claim(session, '?reclaim_older_than_ms=1')
        assert.equal(await first.report(well('local')), 401)
        assert.deepEqual(all(await say(service, session), 'agent.message'), [])
        assert.equal(await second.report(well('local')), 204)
        await logWith(service, session, 'agent.message')
        const other = await begun('say: done')
        const third = await claim(other)
        const headers = { 'x-api-key': '' }
        const path = `/v1/ext/stdio-servers/${session}`
        assert.equal((await service.raw('POST', path, { servers: [] }, headers)).status, 401)
        assert.equal((await service.raw('POST', path, { servers: [] })).status, 403)
        assert.equal(await third.report(well('local')), 204)
      },
    )

    it('an interrupt ends the waiting, and the next turn waits again', async () => {
      const session = await begun('say: first')
      await post(service, session, { type: 'user.interrupt' })
      await logWith(service, session, 'session.status_idle')
      await post(service, session, 'say: second')
      const log = await logWith(service, session, 'session.status_running', 2)
      assert.deepEqual(all(log, 'agent.message'), [])
      await (await claim(session)).report(well('local'))
      const later = await logWith(service, session, 'agent.message')
      assert.equal(textOf(only(later, 'agent.message')), 'second')
    })
  })
}

describe('stdio servers of our worker', () => {
  let folder: string
  before(async () => void (folder = await mkdtemp(join(tmpdir(), 'steward-stdio-'))))
  after(() => rm(folder, { recursive: true, force: true }))

  verifies(
    ['mcp/stdio/worker-only', 'mcp/stdio/ready'],
    'a server by the official library runs in the sandbox, waited for across a server’s death, and ends with it',
    async () => {
      const dir = join(folder, 'worker')
      const env = { DATA_DIR: join(folder, 'data') }
      const token = `secret-${process.pid}-of-a-server`
      const slow = declaredServer('slow', 4002, { MOOD: 'never' })
      const servers = [
        declaredServer('local', 4001, { TOKEN: token }),
        { ...slow, stdio: { ...slow.stdio, ready_timeout_ms: 1_000 } },
      ]
      const before = await startServer(env)
      const pool = await newPool(clientsOf(before.base))
      const session = await sessionIn(clientsOf(before.base), pool, { mcp_servers: servers })
      const lines = [
        callTool('mcp__local__echo', { text: 'from the sandbox' }),
        callTool('mcp__local__die'),
        callTool('mcp__local__process'),
        'run: (exec 3<>/dev/tcp/127.0.0.1/4001) && echo it is here',
        'say: done',
      ]
      await post(clientsOf(before.base), session, lines.join('\n'))
      await logWith(clientsOf(before.base), session, 'session.status_running')
      await before.kill()

      await using server = await startServer(env)
      const service = clientsOf(server.base)
      const workspace = join(dir, 'sessions', session, 'workspace')
      await mkdir(workspace, { recursive: true })
      await writeServer(workspace)
      await using worker = await startWorker({
        ...workerVariables(service, pool),
        ...{ WORKER_DIR: dir, SANDBOX_MEMORY_MB: '1024' },
      })
      const log = await logWith(service, session, 'agent.message')
      assert.equal(all(log, 'agent.message').map(textOf)[0], 'done')
      const [first, died, again, here] = all(log, 'user.tool_result').map(textOf)
      assert.equal(first, 'from the sandbox', worker.said())
      assert.match(died ?? '', /the MCP server local did not answer/)
      assert.match(again ?? '', new RegExp(`^\\d+ ${token.length}$`))
      assert.equal(here?.trim(), 'it is here')
      const [down = '', away = '', ...others] = errorsOf(log)
      assert.match(down, /slow .*1000 ms went by before it listened/)
      assert.match(away, /local .*cannot be used/)
      assert.deepEqual(others, [])
      assert.deepEqual(all(await logOf(service, session), 'session.warning'), [])
      assert.ok(processesHolding('environ', token).length > 0)
      assert.equal(await worker.stop(), 0, worker.said())
      assert.deepEqual(processesHolding('environ', token), [])
      for (const said of [worker.said(), server.said(), before.said()])
        assert.ok(!said.includes(token))
    },
  )
})
