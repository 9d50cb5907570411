import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { newPostgresUrl } from '../database/fixture.ts'
import type { PointName } from './crash-fixture.ts'
import { points } from './crash-fixture.ts'

type Event = { id: string; seq: number; type: string; [key: string]: unknown }
type Server = { child: ChildProcess; base: string; died: Promise<string | null> }

const headers = { 'x-api-key': 'key', 'content-type': 'application/json' }
const program = fileURLToPath(new URL('./crash-fixture.ts', import.meta.url))

for (const database of ['sqlite', 'postgres'] as const) {
  describe(`a server on ${database} killed in mid turn`, () => {
    let folder: string
    let url: string | undefined
    let alive: Server[] = []
    beforeEach(async () => {
      folder = mkdtempSync(join(tmpdir(), 'steward-crash-'))
      if (database === 'postgres') url = await newPostgresUrl()
    })
    afterEach(async () => {
      for (const { child } of alive) child.kill('SIGKILL')
      await Promise.all(alive.map(({ died }) => died))
      alive = []
      rmSync(folder, { recursive: true, force: true })
    })

    async function boot(point = 'none'): Promise<Server> {
      const child = spawn(process.execPath, [program, point], {
        stdio: ['ignore', 'pipe', 'inherit'],
        env: {
          PATH: process.env['PATH'],
          PORT: '0',
          DATA_DIR: folder,
          API_KEY: 'key',
          PLATFORM_ROOT_SECRET: 'a root secret for crashes',
          ...(url ? { DATABASE_URL: url } : {}),
        },
      })
      const died = new Promise<string | null>((resolve) =>
        child.once('exit', (_, signal) => resolve(signal)),
      )
      const port = await new Promise<string>((resolve, reject) => {
        child.stdout?.once('data', (text: Buffer) => resolve(text.toString().trim()))
        child.once('exit', () => reject(new Error('the server did not start')))
      })
      const server = { child, base: `http://127.0.0.1:${port}`, died }
      alive.push(server)
      return server
    }

    async function call<T>(
      server: Server,
      method: string,
      path: string,
      body?: object,
    ): Promise<T> {
      const response = await fetch(server.base + path, {
        method,
        headers,
        ...(body ? { body: JSON.stringify(body) } : {}),
      })
      assert.ok(response.ok, `${method} ${path}: ${response.status}`)
      const text = await response.text()
      return (text ? JSON.parse(text) : undefined) as T
    }

    async function newSession(server: Server, policy = 'always_allow'): Promise<string> {
      const toolset = {
        type: 'agent_toolset_20260401',
        default_config: { permission_policy: { type: policy } },
      }
      const agent = await call<Event>(server, 'POST', '/v1/agents', {
        name: 'a',
        model: 'offline',
        tools: [toolset],
      })
      const environment = await call<Event>(server, 'POST', '/v1/environments', {
        name: `e${process.hrtime.bigint()}`,
      })
      const made = { agent: agent.id, environment_id: environment.id }
      return (await call<Event>(server, 'POST', '/v1/sessions', made)).id
    }

    const log = (server: Server, session: string) =>
      call<Event[]>(server, 'GET', `/v1/sessions/${session}/log`)

    const post = (server: Server, session: string, text: string) =>
      call(server, 'POST', `/v1/sessions/${session}/events`, {
        events: [{ type: 'user.message', content: [{ type: 'text', text }] }],
      })

    async function untilIdle(server: Server, session: string): Promise<Event[]> {
      for (;;) {
        const events = await log(server, session)
        if (events.at(-1)?.type === 'session.status_idle') return events
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    }

    function assertWhole(events: Event[]): void {
      assert.deepEqual(
        events.map(({ seq }) => seq),
        events.map((_, index) => index + 1),
      )
      assert.equal(new Set(events.map(({ id }) => id)).size, events.length)
      const calls = events.filter(({ type }) => type === 'agent.tool_use')
      const results = events.filter(({ type }) => type === 'agent.tool_result')
      assert.deepEqual(
        results.map((each) => each['tool_use_id']),
        calls.map(({ id }) => id),
      )
      const starts = events.filter(({ type }) => type === 'span.model_request_start')
      const ends = events.filter(({ type }) => type === 'span.model_request_end')
      assert.deepEqual(
        ends.map((each) => each['model_request_start_id']),
        starts.map(({ id }) => id),
      )
    }

    for (const point of Object.keys(points) as PointName[]) {
      // verifies: running/recovery/nothing-lost, running/recovery/valid-history, running/recovery/once
      it(`goes on when it died ${point}, with a whole log and without doing a thing twice`, async () => {
        const setup = await boot()
        const session = await newSession(setup)
        setup.child.kill('SIGKILL')
        await setup.died
        const first = await boot(point)
        const task = 'run: echo done >> /workspace/count'
        await post(first, session, task).catch(() => 'the connection may die with the server')
        assert.equal(await first.died, 'SIGKILL')
        const second = await boot()
        const events = await untilIdle(second, session)
        assertWhole(events)
        assert.equal(events.filter(({ type }) => type === 'user.message').length, 1)
        await post(second, session, 'run: cat /workspace/count')
        const all = await untilIdle(second, session)
        assertWhole(all)
        const counted = JSON.stringify(
          all.findLast(({ type }) => type === 'agent.tool_result')?.['content'],
        )
        assert.ok((counted.match(/done/g) ?? []).length <= 1, counted)
      })
    }

    for (const point of ['tool started', 'before idle'] as PointName[])
      it(`runs what was posted behind a turn that died ${point}, once`, async () => {
        const setup = await boot()
        const session = await newSession(setup)
        setup.child.kill('SIGKILL')
        await setup.died
        const first = await boot(point)
        const posted = await Promise.allSettled([
          post(first, session, 'run: echo one >> /workspace/count'),
          post(first, session, 'run: echo two >> /workspace/count'),
        ])
        assert.equal(await first.died, 'SIGKILL')
        const second = await boot()
        const acknowledged = posted.filter(({ status }) => status === 'fulfilled').length
        const begun = async () =>
          (await log(second, session)).filter(({ type }) => type === 'user.message').length
        while ((await begun()) < acknowledged)
          await new Promise((resolve) => setTimeout(resolve, 20))
        const events = await untilIdle(second, session)
        assertWhole(events)
        assert.ok((await begun()) >= acknowledged)
      })

    // verifies: running/recovery/interrupted-stream, running/dead-process
    it('asks the model again when it died while the answer streamed, and says so', async () => {
      const first = await boot()
      const session = await newSession(first)
      await post(first, session, 'wait: 600000\nsay: never')
      while (!(await log(first, session)).some(({ type }) => type === 'span.model_request_start')) {
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
      const acknowledged = await log(first, session)
      first.child.kill('SIGKILL')
      await first.died
      const second = await boot()
      await call(second, 'POST', `/v1/sessions/${session}/cancel`)
      const events = await untilIdle(second, session)
      assertWhole(events)
      assert.deepEqual(events.slice(0, acknowledged.length), acknowledged)
    })

    // verifies: running/recovery/orphan-call
    it('tells the model of a command that was begun and has no result, and does not run it again', async () => {
      const first = await boot()
      const session = await newSession(first)
      await post(first, session, 'run: echo begun >> /workspace/begun; sleep 600')
      while (!(await log(first, session)).some(({ type }) => type === 'agent.tool_use')) {
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
      first.child.kill('SIGKILL')
      await first.died
      const second = await boot()
      const events = await untilIdle(second, session)
      assertWhole(events)
      const result = events.find(({ type }) => type === 'agent.tool_result')
      assert.equal(result?.['is_error'], true)
      assert.match(JSON.stringify(result), /may have run/)
      assert.ok(events.some(({ type }) => type === 'session.warning'))
    })

    it('keeps a call that waits for a person waiting', async () => {
      const first = await boot()
      const session = await newSession(first, 'always_ask')
      await post(first, session, 'run: echo asked')
      const asked = await untilIdle(first, session)
      first.child.kill('SIGKILL')
      await first.died
      const second = await boot()
      const tool_use_id = asked.find(({ type }) => type === 'agent.tool_use')?.id
      const confirmation = { type: 'user.tool_confirmation', tool_use_id, result: 'allow' }
      await call(second, 'POST', `/v1/sessions/${session}/events`, { events: [confirmation] })
      while (!(await log(second, session)).some(({ type }) => type === 'agent.tool_result')) {
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
      assertWhole(await untilIdle(second, session))
    })
  })
}
