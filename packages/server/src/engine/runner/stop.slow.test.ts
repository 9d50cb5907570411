import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { flagsOfNode, programPath } from '@steward/base/program-fixture.ts'
import { newPostgresUrl } from '../../ground/database/fixture.ts'
import type { PostgresProxy } from '../../ground/database/proxy-fixture.ts'
import { postgresProxy } from '../../ground/database/proxy-fixture.ts'
import { callServer, headers } from './process-fixture.ts'

type ApiObject = { id: string; type: string; [key: string]: unknown }
type Exit = { code: number | null; signal: string | null }
type StoppableServer = {
  child: ChildProcess
  base: string
  exit: Promise<Exit>
  said: () => string
}

const program = programPath(new URL('../../main.ts', import.meta.url))

describe('a server that is asked to stop', () => {
  let folder: string
  let alive: StoppableServer[] = []
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'steward-stop-'))
  })
  afterEach(async () => {
    for (const { child } of alive) child.kill('SIGKILL')
    await Promise.all(alive.map(({ exit }) => exit))
    alive = []
    rmSync(folder, { recursive: true, force: true })
  })

  async function boot(seconds: string, env: Record<string, string> = {}): Promise<StoppableServer> {
    const child = spawn(process.execPath, [...flagsOfNode, program], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: {
        PATH: process.env['PATH'],
        NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
        PORT: '0',
        DATA_DIR: folder,
        API_KEY: 'key',
        PLATFORM_ROOT_SECRET: 'a root secret for stops',
        RUNNER_STOP_SECONDS: seconds,
        ...env,
      },
    })
    const exit = new Promise<Exit>((resolve) =>
      child.once('exit', (code, signal) => resolve({ code, signal })),
    )
    let text = ''
    const base = await new Promise<string>((resolve, reject) => {
      child.stderr?.on('data', (piece: Buffer) => {
        text += piece.toString()
        const url = /"url":"([^"]+)"/.exec(text)?.[1]
        if (url) resolve(url)
      })
      child.once('exit', () => reject(new Error(`the server did not start: ${text}`)))
    })
    const server = { child, base, exit, said: () => text }
    alive.push(server)
    return server
  }

  /** Exists while a sandbox of the session runs. */
  const recordOf = (session: string) => join(folder, 'sandboxes', session, 'sandbox.json')

  /** A session in which a command has begun. */
  async function running(server: StoppableServer, command: string): Promise<string> {
    const tools = [{ type: 'agent_toolset_20260401' }]
    const agent = await callServer<ApiObject>(server, 'POST', '/v1/agents', {
      ...{ name: 'a', model: 'offline', tools },
    })
    const environment = await callServer<ApiObject>(server, 'POST', '/v1/environments', {
      name: 'e',
    })
    const made = { agent: agent.id, environment_id: environment.id }
    const { id } = await callServer<ApiObject>(server, 'POST', '/v1/sessions', made)
    const content = [{ type: 'text', text: `run: ${command}\nsay: and more` }]
    await callServer(server, 'POST', `/v1/sessions/${id}/events`, {
      events: [{ type: 'user.message', content }],
    })
    while (!existsSync(recordOf(id))) await new Promise((resolve) => setTimeout(resolve, 10))
    return id
  }

  const log = (server: StoppableServer, session: string) =>
    callServer<ApiObject[]>(server, 'GET', `/v1/sessions/${session}/log`)

  async function untilIdle(server: StoppableServer, session: string): Promise<ApiObject[]> {
    for (;;) {
      const events = await log(server, session)
      if (events.at(-1)?.type === 'session.status_idle') return events
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  // verifies: running/stop/calls, running/stop/streams, running/stop/handed-over
  it('lets a command end, ends streams as whole answers, and releases the turn to the next server', async () => {
    const first = await boot('20')
    const session = await running(
      first,
      'sleep 1; echo done >> /workspace/count; cat /workspace/count',
    )
    const stream = await fetch(`${first.base}/v1/sessions/${session}/events/stream?replay=true`, {
      headers,
    })
    const told = stream.text()
    first.child.kill('SIGTERM')
    assert.match(await told, /agent\.tool_result/)
    assert.deepEqual(await first.exit, { code: 0, signal: null })
    const second = await boot('20')
    const events = await untilIdle(second, session)
    const results = events.filter(({ type }) => type === 'agent.tool_result')
    assert.deepEqual(
      results.map(({ is_error, content }) => [is_error, JSON.stringify(content).includes('done')]),
      [[false, true]],
    )
    assert.ok(!events.some(({ type }) => type === 'session.warning'))
  })

  // verifies: running/stop/time
  it('cuts a command off when its time is over, and says so to the next', async () => {
    const first = await boot('1')
    const session = await running(first, 'sleep 600')
    first.child.kill('SIGTERM')
    assert.deepEqual(await first.exit, { code: 0, signal: null })
    const second = await boot('1')
    const events = await untilIdle(second, session)
    const warning = events.find(({ type }) => type === 'session.warning')
    assert.equal(warning?.['reason'], 'turn_handed_over')
    const result = events.find(({ type }) => type === 'agent.tool_result')
    assert.match(JSON.stringify(result), /may have run/)
  })

  const get = (server: StoppableServer, path: string) =>
    fetch(server.base + path, { headers: { connection: 'close' } })

  async function untilStopping(server: StoppableServer): Promise<void> {
    while ((await get(server, '/readyz')).status !== 503)
      await new Promise((resolve) => setTimeout(resolve, 10))
  }

  // verifies: running/stop/ready, http/ready
  it('says that it is not ready from the first moment on, and answers while a command ends', async () => {
    const server = await boot('20')
    const session = await running(server, 'until [ -e /workspace/go ]; do sleep 0.05; done')
    assert.equal((await get(server, '/readyz')).status, 200)
    server.child.kill('SIGTERM')
    await untilStopping(server)
    assert.deepEqual(await (await get(server, '/readyz')).json(), { ok: false, stopping: true })
    assert.deepEqual(await (await get(server, '/healthz')).json(), { ok: true })
    const events = await log(server, session)
    assert.ok(!events.some(({ type }) => type === 'agent.tool_result'), 'the command still runs')
    writeFileSync(join(folder, 'sandboxes', session, 'workspace', 'go'), '')
    assert.deepEqual(await server.exit, { code: 0, signal: null })
  })

  for (const [how, lose] of [
    ['refuses connections', (proxy: PostgresProxy) => proxy.refuse()],
    ['answers nothing', (proxy: PostgresProxy) => proxy.vanish()],
  ] as const)
    // verifies: running/stop/clean
    it(`ends cleanly while its Postgres ${how}, in the midst of a command`, async () => {
      await using proxy = await postgresProxy(await newPostgresUrl())
      const server = await boot('1', {
        DATABASE_URL: proxy.url,
        DATABASE_CONNECT_SECONDS: '1',
        DATABASE_STATEMENT_SECONDS: '1',
      })
      const session = await running(server, 'sleep 600')
      lose(proxy)
      server.child.kill('SIGTERM')
      const late = setTimeout(() => server.child.kill('SIGKILL'), 30_000)
      assert.deepEqual(await server.exit, { code: 0, signal: null }, server.said())
      clearTimeout(late)
      assert.match(server.said(), /"part":"root key"/)
      assert.ok(!existsSync(recordOf(session)), 'its sandbox has ended')
    })

  // verifies: running/stop/second-signal
  it('ends at once at the second signal', async () => {
    const first = await boot('600')
    await running(first, 'sleep 600')
    first.child.kill('SIGTERM')
    await untilStopping(first)
    first.child.kill('SIGTERM')
    assert.deepEqual(await first.exit, { code: 1, signal: null })
  })
})
