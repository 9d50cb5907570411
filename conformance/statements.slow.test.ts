/** Counts the database statements of each journey. docs/statements.md has the budgets. */
import './statements.ts'
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { connect } from 'node:tls'
import { systemClock } from '@steward/base/time.ts'
import { Agent, get } from 'node:https'
import { buffer } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { gateSocketOf } from '@steward/server/engine/runner/gate-socket-fixture.ts'
import { socketPath } from '@steward/base/socket-path.ts'
import type { McpHosts } from './mcp.ts'
import { declareServer, mcpHosts, sessionOf, vaultOf } from './mcp.ts'
import type { TestService } from './service.ts'
import { boot, databases } from './service.ts'
import type { StatementCost } from './statements.ts'
import { costOf, costUntilRest, untilRest } from './statements.ts'
import { custom, fresh, message, newSession, only, result, turn } from './turns.ts'
import { acknowledge, claimedSession, newPool, poll, sessionIn } from './workers.ts'

/** One run of this many must keep its budget. The others may include work of jobs, or more and smaller writes. */
const runs = 30

const page = readFileSync(new URL('../docs/statements.md', import.meta.url), 'utf8')

/** Reads the budgets of one database from the page, by the name of the journey. */
function budgetsOf(database: (typeof databases)[number]): Map<string, Partial<StatementCost>> {
  const [, rest = ''] = page.split(`## ${database === 'sqlite' ? 'SQLite' : 'Postgres'}\n`)
  const [own = ''] = rest.split('\n## ')
  const [head = [], , ...rows] = own.trim().split('\n').map(cellsOf)
  return new Map(
    rows.map(([name = '', ...cells]) => [
      name,
      Object.fromEntries(cells.map((cell, at) => [head[at + 1], Number(cell)])),
    ]),
  )
}

const cellsOf = (row: string): string[] =>
  row
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim())

type MeasuredRun = () => Promise<unknown>

const newAgent = () => ({ name: fresh('agent'), model: 'offline', tools: [] })
const tools = [{ type: 'agent_toolset_20260401' }]

/** Each journey prepares its data first. Only the statements of the returned run are counted. */
const journeys: Record<
  string,
  (service: TestService) => Promise<() => MeasuredRun | Promise<MeasuredRun>>
> = {
  'an agent is made': async (service) => () => () => ok(service, 'POST', '/v1/agents', newAgent()),

  async 'an agent is read'(service) {
    const made = await service.ask('POST', '/v1/agents', newAgent())
    return () => () => ok(service, 'GET', `/v1/agents/${made.body.id}`)
  },

  async 'a session is made'(service) {
    const agent = await service.ask('POST', '/v1/agents', newAgent())
    const environment = await service.ask('POST', '/v1/environments', { name: fresh('e') })
    const body = { agent: agent.body.id, environment_id: environment.body.id }
    return () => () => ok(service, 'POST', '/v1/sessions', body)
  },

  async 'a message and its turn'(service) {
    const session = await newSession(service)
    return () => () => send(service, session, 'say: x')
  },

  async 'a message and its turn with a command'(service) {
    const session = await newSession(service, { tools })
    return () => () => send(service, session, 'run: true\nsay: x')
  },

  async 'a page of the log'(service) {
    const session = await newSession(service)
    await costUntilRest(() => send(service, session, 'say: x'))
    return () => () => ok(service, 'GET', `/v1/sessions/${session}/events?limit=100`)
  },

  async 'a poll without work'(service) {
    const pool = await newPool(service)
    return () => () => poll(service, pool)
  },

  async 'a poll with work, and its acknowledgement'(service) {
    const pool = await newPool(service)
    const body = { initial_events: [message('run: true')] }
    return async () => {
      await sessionIn(service, pool, {}, body)
      return async () => {
        const item = await poll(service, pool)
        await acknowledge(service, pool, item?.id ?? 'none')
      }
    }
  },

  async 'a heartbeat'(service) {
    const pool = await newPool(service)
    await sessionIn(service, pool, {}, { initial_events: [message('run: true')] })
    const item = await poll(service, pool)
    await acknowledge(service, pool, item?.id ?? 'none')
    const headers = { 'x-api-key': '', authorization: `Bearer ${pool.key}` }
    const path = `${pool.path}/work/${item?.id}/heartbeat`
    return () => async () =>
      assert.equal((await service.ask('POST', path, undefined, headers)).status, 200)
  },

  async 'the result of a custom tool, and the rest of its turn'(service) {
    return async () => {
      const session = await newSession(service, { tools: [custom] })
      const seen = await turn(service, session, 'call look_up {"what":"x"}\nsay: x')
      const events = [result(only(seen, 'agent.custom_tool_use').id, 'found')]
      return () => ok(service, 'POST', `/v1/sessions/${session}/events`, { events })
    }
  },

  async "a worker's result of a command, and the rest of its turn"(service) {
    const pool = await newPool(service)
    return async () => {
      const claimed = await claimedSession(service, pool, 'run: true\nsay: x')
      const { session, token } = claimed
      const content = [{ type: 'text', text: 'done' }]
      const events = [{ type: 'user.tool_result', tool_use_id: await claimed.call(), content }]
      const headers = { 'x-api-key': '', authorization: `Bearer ${token}` }
      return () => ok(service, 'POST', `/v1/sessions/${session}/events`, { events }, headers)
    }
  },

  async 'a call out of a sandbox, with a credential'(service) {
    const vault_ids = [await vaultOf(service, bearer)]
    const session = await sessionOf(service, { tools, vault_ids })
    await turn(service, session, 'run: true\nsay: x')
    const socket = socketPath(gateSocketOf(service.dataDir, session))
    const gate = await throughGate(socket.path, host)
    socket.forget()
    return () => () => gate('/')
  },

  async 'a call through the MCP proxy, with a credential'(service) {
    const vault_ids = [await vaultOf(service, bearer)]
    const session = await sessionOf(service, { servers: [declareServer(host, 'up')], vault_ids })
    return () => () => ok(service, 'POST', `/v1/ext/mcp-proxy/${session}/up`, {})
  },
}

const host = 'api.example'
const bearer = { type: 'static_bearer', token: 'a token', mcp_server_url: `https://${host}/mcp` }

/** Opens a connection through the gate as a program in the sandbox does: CONNECT, TLS, then requests. */
async function throughGate(socketPath: string, name: string) {
  const target = `${name}:443`
  const asked = { socketPath, method: 'CONNECT', path: target, headers: { host: target } }
  const connecting = request(asked).end()
  const [, socket] = (await once(connecting, 'connect')) as [IncomingMessage, Socket]
  const secure = connect({ socket, servername: name, rejectUnauthorized: false })
  await once(secure, 'secureConnect')
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  agent.createConnection = () => secure
  return async (path: string) => {
    const [answer] = (await once(get({ host: name, path, agent }), 'response')) as [IncomingMessage]
    assert.equal(answer.statusCode, 200)
    await buffer(answer)
  }
}

async function ok(
  service: TestService,
  method: string,
  path: string,
  body?: object,
  headers?: Record<string, string>,
): Promise<void> {
  const answer = await service.ask(method, path, body, headers)
  assert.ok(answer.status < 300, JSON.stringify(answer.body))
}

const send = (service: TestService, session: string, text: string) =>
  ok(service, 'POST', `/v1/sessions/${session}/events`, { events: [message(text)] })

for (const database of databases)
  describe(`on ${database}, no more is asked of the database than its budget when`, () => {
    let service: TestService
    let hosts: McpHosts
    const budgets = budgetsOf(database)
    before(async () => {
      hosts = await mcpHosts()
      hosts.set(host, () => Response.json({}))
      service = await boot(database, { overrides: { nameOverride: hosts.outside } })
    })
    after(async () => {
      await service.close()
      await hosts[Symbol.asyncDispose]()
    })

    for (const [name, journey] of Object.entries(journeys))
      it(name, async () => {
        const newRun = await journey(service)
        const warm = await newRun()
        await costUntilRest(warm)
        await keepsBudget(budgets, name, async () => {
          const run = await newRun()
          await untilRest()
          return costUntilRest(run)
        })
      })
  })

for (const database of databases)
  describe(`a process that nobody asks for anything on ${database}`, () => {
    it('asks no more in a minute than its budget', async () => {
      const name = 'an idle minute of a process'
      await keepsBudget(budgetsOf(database), name, () => costOfIdleMinute(database), 4)
    })
  })

/** Asserts that one of `most` runs keeps the budget. */
async function keepsBudget(
  budgets: ReadonlyMap<string, Partial<StatementCost>>,
  name: string,
  costOfRun: () => Promise<StatementCost & { texts: readonly string[] }>,
  most = runs,
): Promise<void> {
  const budget = budgets.get(name)
  assert.ok(budget, `docs/statements.md has no budget for "${name}"`)
  let above = ''
  for (let n = 0; n < most; n++) {
    above = aboveBudget(budget, await costOfRun())
    if (above === '') return
  }
  assert.fail(`in each of ${most} runs; in the last one: ${above}`)
}

const kinds = ['statements', 'round trips', 'commits', 'notifications'] as const

function aboveBudget(
  budget: Partial<StatementCost>,
  { texts, ...cost }: StatementCost & { texts: readonly string[] },
): string {
  const above = kinds.filter((kind) => cost[kind] > (budget[kind] ?? 0))
  if (above.length === 0) return ''
  const said = above.map((kind) => `${cost[kind]} ${kind}, and the budget is ${budget[kind] ?? 0}`)
  return [`${said.join('; ')}:`, ...texts.map((text) => text.replaceAll(/\s+/g, ' '))].join('\n  ')
}

/** Cost of an idle minute. The service's timers are accelerated, so that the minute takes three seconds. */
async function costOfIdleMinute(database: (typeof databases)[number]) {
  const speed = 20
  const slow = hastenTimers(speed)
  const began = Date.now()
  const clock = { ...systemClock, now: () => began + speed * (Date.now() - began) }
  const service = await boot(database, { overrides: { clock } })
  try {
    await pause(60_000 / speed)
    return await costOf(() => pause(60_000 / speed))
  } finally {
    slow()
    await service.close()
  }
}

/** Accelerates the timers that are set from now on. The returned function restores the timers of Node. */
function hastenTimers(speed: number): () => void {
  const set = (name: 'setTimeout' | 'setInterval', value: unknown) =>
    void Object.defineProperty(globalThis, name, { value, configurable: true, writable: true })
  const { setTimeout, setInterval } = globalThis
  type MeasuredCall = (...given: unknown[]) => void
  const hastened =
    (timer: (call: MeasuredCall, ms: number, ...given: unknown[]) => unknown) =>
    (call: MeasuredCall, ms = 0, ...given: unknown[]) =>
      timer(call, ms / speed, ...given)
  set('setTimeout', hastened(setTimeout))
  set('setInterval', hastened(setInterval))
  return () => {
    set('setTimeout', setTimeout)
    set('setInterval', setInterval)
  }
}
