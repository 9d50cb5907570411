import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, beforeEach, describe, it } from 'node:test'
import { flagsOfNode, programPath } from '@steward/base/program-fixture.ts'
import { newId } from '../../ground/core/text/ids.ts'
import { isLongRun, createSqliteFile, newPostgresUrl } from '../../ground/database/fixture.ts'
import { postgresDatabase } from '../../ground/database/postgres.ts'
import { sqliteDatabase } from '../../ground/database/sqlite.ts'
import { appendEntries } from '../../sessions/log/append.ts'
import type { Fault, PointName } from './crash-fixture.ts'
import { crashPoints } from './crash-fixture.ts'
import { assertCountedOnce, callServer, pricesIn } from './process-fixture.ts'

type CrashEvent = { id: string; seq: number; type: string; [key: string]: unknown }
type CrashServer = { child: ChildProcess; base: string; died: Promise<string | null> }

const program = programPath(new URL('./crash-fixture.ts', import.meta.url))

/**
 * Every point at which a server can be killed in a turn: a file for each database, as each takes minutes. `npm test`
 * runs each crash on one of the two, `npm run test:long` on both.
 */
export function testCrashes(database: 'sqlite' | 'postgres'): void {
  let isMine = database === 'sqlite'
  function crash(name: string, run: () => Promise<void>): void {
    if (isLongRun || isMine) it(name, run)
    isMine = !isMine
  }

  describe(`a server on ${database} killed in mid turn`, () => {
    let folder = ''
    let url: string | undefined
    let alive: CrashServer[] = []
    /** The server of a test that passed, idle and without a fault: the next test may kill it, and needs no start. */
    let left: CrashServer | undefined

    async function endSetup(): Promise<void> {
      for (const { child } of alive) child.kill('SIGKILL')
      await Promise.all(alive.map(({ died }) => died))
      alive = []
      if (folder !== '') rmSync(folder, { recursive: true, force: true })
      folder = ''
    }
    beforeEach(async () => {
      if (left) return
      await endSetup()
      folder = mkdtempSync(join(tmpdir(), 'steward-crash-'))
      if (database === 'postgres') url = await newPostgresUrl()
      else await createSqliteFile(folder)
    })
    after(endSetup)

    /** A server that may be killed: the previous test's, if that test passed, or a new one. */
    async function mortal(fault?: Fault): Promise<CrashServer> {
      const server = left ?? (await boot())
      left = undefined
      if (!fault) return server
      const laid = once(server.child, 'message')
      server.child.send(fault)
      await laid
      return server
    }

    function launch(fault?: Fault): Pick<CrashServer, 'child' | 'died'> {
      const args = [...flagsOfNode, program, ...(fault ? [JSON.stringify(fault)] : [])]
      const child = spawn(process.execPath, args, {
        stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
        env: {
          PATH: process.env['PATH'],
          PORT: '0',
          DATA_DIR: folder,
          API_KEY: 'key',
          PLATFORM_ROOT_SECRET: 'a root secret for crashes',
          STEWARD_OFFLINE_THINK_MS: '0',
          MODEL_PRICES: pricesIn(folder),
          NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
          ...(url ? { DATABASE_URL: url } : {}),
        },
      })
      const died = new Promise<string | null>((resolve) =>
        child.once('exit', (_, signal) => resolve(signal)),
      )
      return { child, died }
    }

    async function boot(fault?: Fault): Promise<CrashServer> {
      const { child, died } = launch(fault)
      const port = await new Promise<string>((resolve, reject) => {
        child.stdout?.once('data', (text: Buffer) => resolve(text.toString().trim()))
        child.once('exit', () => reject(new Error('the server did not start')))
      })
      const server = { child, base: `http://127.0.0.1:${port}`, died }
      alive.push(server)
      return server
    }

    async function newSession(server: CrashServer, policy = 'always_allow'): Promise<string> {
      const toolset = {
        type: 'agent_toolset_20260401',
        default_config: { permission_policy: { type: policy } },
      }
      const agent = await callServer<CrashEvent>(server, 'POST', '/v1/agents', {
        name: 'a',
        model: 'offline',
        tools: [toolset],
      })
      const environment = await callServer<CrashEvent>(server, 'POST', '/v1/environments', {
        name: `e${process.hrtime.bigint()}`,
      })
      const made = { agent: agent.id, environment_id: environment.id }
      return (await callServer<CrashEvent>(server, 'POST', '/v1/sessions', made)).id
    }

    const log = (server: CrashServer, session: string) =>
      callServer<CrashEvent[]>(server, 'GET', `/v1/sessions/${session}/log`)

    const post = (server: CrashServer, session: string, text: string) =>
      callServer(server, 'POST', `/v1/sessions/${session}/events`, {
        events: [{ type: 'user.message', content: [{ type: 'text', text }] }],
      })

    async function untilIdle(server: CrashServer, session: string): Promise<CrashEvent[]> {
      for (;;) {
        const events = await log(server, session)
        if (events.at(-1)?.type === 'session.status_idle') return events
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    }

    function assertWhole(events: CrashEvent[]): void {
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

    const pause = () => new Promise((resolve) => setTimeout(resolve, 20))

    const count = (events: readonly CrashEvent[], type: string) =>
      events.filter((event) => event.type === type).length

    async function until(
      server: CrashServer,
      session: string,
      type: string,
      least = 1,
    ): Promise<void> {
      while (count(await log(server, session), type) < least) await pause()
    }

    const noting = (text: string) => `run: echo ${text} >> /workspace/notes`

    /** The output of the commands of all turns, as another turn reads it. */
    async function notes(server: CrashServer, session: string): Promise<string[]> {
      const before = count(await untilIdle(server, session), 'user.message')
      await post(server, session, 'run: cat /workspace/notes')
      await until(server, session, 'user.message', before + 1)
      const events = await untilIdle(server, session)
      assertWhole(events)
      const last = events.findLast(({ type }) => type === 'agent.tool_result')
      const content = last?.['content'] as { text: string }[] | undefined
      return content?.[0]?.text.split('\n').filter((line) => /^(one|two|three)$/.test(line)) ?? []
    }

    /** A session on a server that dies at the point. */
    async function dyingIn(fault: Fault, task: string): Promise<string> {
      const first = await mortal(fault)
      const session = await newSession(first)
      await post(first, session, task).catch(() => 'the connection may die with the server')
      assert.equal(await first.died, 'SIGKILL')
      return session
    }

    const alone = ['admitted', 'promoted', 'tool started', 'tool ended', 'before idle'] as const

    for (const point of alone)
      // verifies: running/recovery/nothing-lost, running/recovery/valid-history, running/recovery/once
      crash(
        `goes on when it died ${point}, with a whole log and without doing a thing twice`,
        async () => {
          const session = await dyingIn({ point }, noting('one'))
          const second = await boot()
          const events = await untilIdle(second, session)
          assertWhole(events)
          await assertCountedOnce(second, session, events)
          assert.equal(count(events, 'user.message'), 1)
          assert.ok((await notes(second, session)).length <= 1)
          left = second
        },
      )

    for (const point of (Object.keys(crashPoints) as PointName[]).filter(
      (each) => !each.endsWith('up'),
    ))
      crash(`answers the queue behind a turn that died ${point}, once`, async () => {
        const which = { admitted: 3, promoting: 2 }[point as string] ?? 1
        const queued = point === 'admitted' ? 0 : 2
        const first = await mortal({ point, nth: which, queued })
        const session = await newSession(first)
        await post(first, session, noting('one'))
        await until(first, session, 'user.message')
        for (const text of ['two', 'three'])
          await post(first, session, noting(text)).catch(() => 'the server may die with the last')
        assert.equal(await first.died, 'SIGKILL')
        const second = await boot()
        await until(second, session, 'user.message', 3)
        const events = await untilIdle(second, session)
        assertWhole(events)
        await assertCountedOnce(second, session, events)
        assert.equal(count(events, 'session.error'), 0)
        const done = await notes(second, session)
        assert.equal(new Set(done).size, done.length, done.join())
        // The model answers the last of the messages that begin a turn together.
        assert.ok(done.includes('three'))
        left = second
      })

    /** Appends warnings that concern no recovery, while no server runs. */
    async function warn(session: string, times: number): Promise<void> {
      const database = await (url
        ? postgresDatabase(url)
        : sqliteDatabase(join(folder, 'steward.db')))
      const warnings = Array.from({ length: times }, () => ({
        event: {
          ...{ id: newId('event'), type: 'session.warning' as const },
          ...{ reason: 'egress_refused', message: 'a host was refused' },
        },
      }))
      await database.write(async (tx) => {
        const heads = tx.selectFrom('session_heads').select('tenant_id')
        const { tenant_id } = await heads.executeTakeFirstOrThrow()
        await appendEntries(tx, tenant_id, session, warnings, { now: Date.now() })
      })
      await database.close()
    }

    /** Starts a server that may claim the session and die before a client can reach it. */
    async function diesAgain(fault: Fault): Promise<void> {
      assert.equal(await launch(fault).died, 'SIGKILL')
    }

    crash(
      'takes warnings of other kinds for no recoveries, however many come between two deaths',
      async () => {
        const session = await dyingIn({ point: 'tool started' }, noting('one'))
        await warn(session, 8)
        await diesAgain({ point: 'taken up' })
        await warn(session, 8)
        const last = await boot()
        const events = await untilIdle(last, session)
        assertWhole(events)
        assert.equal(count(events, 'session.error'), 0)
        assert.equal(count(events, 'session.warning'), 16 + 2)
        left = last
      },
    )

    // verifies: running/recovery/given-up
    crash('gives a turn up that died six times, and answers what is queued behind it', async () => {
      const point = 'tool ended'
      const first = await mortal({ point, queued: 1 })
      const session = await newSession(first)
      await post(first, session, noting('one'))
      await until(first, session, 'user.message')
      await post(first, session, noting('two')).catch(() => 'the server may die with it')
      assert.equal(await first.died, 'SIGKILL')
      for (let deaths = 1; deaths < 6; deaths++) {
        await warn(session, 1)
        await diesAgain({ point })
      }
      const last = await boot()
      await until(last, session, 'user.message', 2)
      const events = await untilIdle(last, session)
      assertWhole(events)
      const error = events.find(({ type }) => type === 'session.error')
      assert.match(JSON.stringify(error), /ended again and again/)
      assert.ok((await notes(last, session)).includes('two'))
      left = last
    })

    // verifies: running/recovery/given-up
    crash(
      'goes on with a turn whose process died six times before the turn began anything',
      async () => {
        const session = await dyingIn({ point: 'tool started' }, noting('one'))
        for (let deaths = 1; deaths < 6; deaths++) await diesAgain({ point: 'taking up' })
        const last = await boot()
        const events = await untilIdle(last, session)
        assertWhole(events)
        assert.equal(count(events, 'session.error'), 0)
        left = last
      },
    )

    crash(
      'goes on with a session whose drain and lease could not be written, beside one that runs',
      async () => {
        const server = await mortal({ point: 'tool ended', refusals: 3 })
        const beside = await newSession(server)
        await post(server, beside, 'run: until [ -e /workspace/go ]; do sleep 0.05; done')
        const there = join(folder, 'sandboxes', beside, 'workspace')
        while (!existsSync(there)) await pause()
        const session = await newSession(server)
        await post(server, session, noting('one'))
        const events = await untilIdle(server, session)
        assertWhole(events)
        const warnings = events.filter(({ type }) => type === 'session.warning')
        assert.deepEqual(
          warnings.map(({ reason }) => reason),
          ['turn_recovered'],
        )
        assert.equal(count(await log(server, beside), 'agent.tool_result'), 0)
        writeFileSync(join(there, 'go'), '')
        const others = await untilIdle(server, beside)
        assertWhole(others)
        assert.equal(count(others, 'session.warning') + count(others, 'session.error'), 0)
        assert.equal(others.find(({ type }) => type === 'agent.tool_result')?.['is_error'], false)
      },
    )

    // verifies: running/recovery/interrupted-stream, running/dead-process
    crash('asks the model again when it died while the answer streamed, and says so', async () => {
      const first = await mortal()
      const session = await newSession(first)
      await post(first, session, 'wait: 600000\nsay: never')
      while (!(await log(first, session)).some(({ type }) => type === 'span.model_request_start')) {
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
      const acknowledged = await log(first, session)
      first.child.kill('SIGKILL')
      await first.died
      const second = await boot()
      await callServer(second, 'POST', `/v1/sessions/${session}/cancel`)
      const events = await untilIdle(second, session)
      assertWhole(events)
      assert.deepEqual(events.slice(0, acknowledged.length), acknowledged)
      left = second
    })

    // verifies: running/recovery/orphan-call
    crash(
      'reports to the model a command that was begun and has no result, and does not run it again',
      async () => {
        const first = await mortal()
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
        left = second
      },
    )

    crash('keeps a call that waits for a person waiting', async () => {
      const first = await mortal()
      const session = await newSession(first, 'always_ask')
      await post(first, session, 'run: echo asked')
      const asked = await untilIdle(first, session)
      first.child.kill('SIGKILL')
      await first.died
      const second = await boot()
      const tool_use_id = asked.find(({ type }) => type === 'agent.tool_use')?.id
      const confirmation = { type: 'user.tool_confirmation', tool_use_id, result: 'allow' }
      await callServer(second, 'POST', `/v1/sessions/${session}/events`, { events: [confirmation] })
      while (!(await log(second, session)).some(({ type }) => type === 'agent.tool_result')) {
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
      assertWhole(await untilIdle(second, session))
      left = second
    })
  })
}
