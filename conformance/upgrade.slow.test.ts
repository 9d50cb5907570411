/** Versions of the past, and this one after them and beside them. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, it } from 'node:test'
import { emptyPostgresUrl } from '@steward/server/ground/database/fixture.ts'
import { lacksHistory, pastVersion } from './past-version.ts'
import type { ServerProcess } from './process.ts'
import { startServer } from './process.ts'
import type { ServiceClients } from './service.ts'
import { clientsOf } from './service.ts'
import { all, newSession, post, say, textOf, turn } from './turns.ts'

/** Each with what the tables lacked. The last is the previous one; releases take their place as there are some. */
const past = [
  ['05f4828f', 'the tables in one migration'],
  ['1e37454b', 'without archived keys'],
  ['e00f6fbf', 'without waits, views and facts for people'],
  ['dab132c5', 'without the index of forks'],
  ['f8503b06', 'without migrations that only add'],
  ['7526ea09', 'without what a company connects'],
] as const
const [oldest] = past[0]
const [previous] = past[5]
const skip = lacksHistory(past.map(([commit]) => commit))

const toolset = { tools: [{ type: 'agent_toolset_20260401' }] }

describe('a data folder of the past', { skip }, () => {
  for (const [commit, lacks] of past)
    it(`goes on with what a server that was killed has left, ${lacks} (${commit})`, async () => {
      await using version = await pastVersion(commit)
      const folder = await mkdtemp(join(tmpdir(), 'steward-upgrade-'))
      // The server makes the folder, with the tables of its version.
      const DATA_DIR = join(folder, 'data')
      try {
        const former = await startServer({ DATA_DIR }, version.main)
        const then = clientsOf(former.base)
        const rested = await newSession(then, toolset)
        const before = await turn(then, rested, 'write made: of the past')
        const running = await newSession(then, toolset)
        await post(then, running, 'run: sleep 5; echo late\nsay: over')
        await until(async () => all(await say(then, running), 'agent.tool_use').length === 1)
        await former.kill()

        await using server = await startServer({ DATA_DIR })
        const service = clientsOf(server.base)
        const kept = await say(service, rested)
        assert.deepEqual(
          kept.slice(-before.length).map(({ id }) => id),
          before.map(({ id }) => id),
        )
        const log = await turn(service, rested, 'read: made')
        assert.match(textOf(all(log, 'agent.tool_result')[0] ?? assert.fail()), /^of the past/)
        await until(
          async () => (await say(service, running)).at(-1)?.type === 'session.status_idle',
        )
        const ended = await say(service, running)
        assert.equal(all(ended, 'agent.tool_use').length, 1, 'the call did not run again')
        assert.equal(all(ended, 'agent.tool_result').length, 1)
      } finally {
        await rm(folder, { recursive: true, force: true })
      }
    })
})

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await delay(50)
}

type Traffic = {
  /** Sends what comes next to another server. */
  aimAt: (service: ServiceClients) => void
  /** Resolves when each session has answered so many more messages. */
  goesOn: (turns: number) => Promise<void>
  /** The numbers of messages that were sent to each session, and its answers. */
  end: () => Promise<{ sent: number; answers: string[] }[]>
}

const talking = 6

/** Clients that reconnect: each session answers one message after the other. */
async function startTraffic(service: ServiceClients): Promise<Traffic> {
  let target = service
  const stopping = new AbortController()
  const sessions = await Promise.all(Array.from({ length: talking }, () => newSession(service)))
  const sent = new Map(sessions.map((session): [string, number] => [session, 0]))

  /** Repeats what the network has not answered. The key makes the service take a message once. */
  async function send(session: string, number: number): Promise<void> {
    const event = { type: 'user.message', content: [{ type: 'text', text: `say: ${number}` }] }
    const key = { 'idempotency-key': `${session}-${number}` }
    for (;;) {
      const answer = await target
        .raw('POST', `/v1/sessions/${session}/events`, { events: [event] }, key)
        .catch(() => undefined)
      if (answer?.ok) return
      assert.ok(!answer || answer.status >= 500, `${answer?.status}: ${await answer?.text()}`)
      await delay(50)
    }
  }

  async function answersOf(session: string): Promise<string[]> {
    for (;;) {
      const log = await say(target, session).catch(() => undefined)
      if (log) return all(log, 'agent.message').map((event) => textOf(event).trim())
      await delay(50)
    }
  }

  async function talk(session: string): Promise<void> {
    for (let number = 0; !stopping.signal.aborted; number++) {
      await send(session, number)
      sent.set(session, number + 1)
      await until(async () => (await answersOf(session)).length > number)
    }
  }

  const ended = Promise.all(sessions.map((session) => talk(session)))
  return {
    aimAt: (other) => {
      target = other
    },
    async goesOn(turns) {
      const from = new Map(sent)
      const isOn = () => [...sent].every(([id, count]) => count >= (from.get(id) ?? 0) + turns)
      await Promise.race([ended, until(async () => isOn())])
    },
    async end() {
      stopping.abort()
      await ended
      return Promise.all(
        sessions.map(async (id) => ({ sent: sent.get(id) ?? 0, answers: await answersOf(id) })),
      )
    },
  }
}

describe('two versions on one Postgres', { skip }, () => {
  /** Starts servers of one database that end with the test, whatever happens. */
  async function sharedDatabase() {
    const folder = await mkdtemp(join(tmpdir(), 'steward-upgrade-'))
    const env = { DATABASE_URL: await emptyPostgresUrl(), DATA_DIR: folder }
    const servers: ServerProcess[] = []
    return {
      async start(program?: string): Promise<ServerProcess> {
        const server = await startServer(env, program)
        servers.push(server)
        return server
      },
      async [Symbol.asyncDispose]() {
        for (const server of servers) await server.kill()
        await rm(folder, { recursive: true, force: true })
      },
    }
  }

  /** Moves the traffic to a server, and ends the one that had it. */
  async function move(from: ServerProcess, to: ServerProcess, traffic: Traffic): Promise<void> {
    await traffic.goesOn(3)
    traffic.aimAt(clientsOf(to.base))
    await traffic.goesOn(3)
    assert.equal(await from.stop(), 0, from.said())
    await traffic.goesOn(3)
  }

  async function assertEachAnsweredOnce(traffic: Traffic): Promise<void> {
    for (const { sent, answers } of await traffic.end())
      assert.deepEqual(
        answers,
        Array.from({ length: sent }, (_, number) => String(number)),
      )
  }

  it('take over from each other under traffic and back, and each message is answered once', async () => {
    await using version = await pastVersion(previous)
    await using shared = await sharedDatabase()
    const former = await shared.start(version.main)
    const traffic = await startTraffic(clientsOf(former.base))
    const newer = await shared.start()
    await move(former, newer, traffic)
    await move(newer, await shared.start(version.main), traffic)
    await assertEachAnsweredOnce(traffic)
  })

  it('serve side by side while the newer one changes the tables, over several versions', async () => {
    await using version = await pastVersion(oldest)
    await using shared = await sharedDatabase()
    const former = await shared.start(version.main)
    const traffic = await startTraffic(clientsOf(former.base))
    await move(former, await shared.start(), traffic)
    await assertEachAnsweredOnce(traffic)
  })
})
