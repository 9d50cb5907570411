/** What each journey asks of the database, counted: docs/statements.md has the budgets. */
import './statements.ts'
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import type { Service } from './service.ts'
import { boot, databases } from './service.ts'
import type { Cost } from './statements.ts'
import { costUntilRest } from './statements.ts'
import { fresh, message, newSession } from './turns.ts'
import { acknowledge, newPool, poll, sessionIn } from './workers.ts'

/** Of so many runs the cheapest counts: in the others the process may have looked for work meanwhile. */
const runs = 5

const page = readFileSync(new URL('../docs/statements.md', import.meta.url), 'utf8')

/** Of one database, by the names of the journeys. */
function budgetsOf(database: (typeof databases)[number]): Map<string, Cost> {
  const [, rows = ''] = page.split(`## ${database === 'sqlite' ? 'SQLite' : 'Postgres'}\n`)
  const [own = ''] = rows.split('\n## ')
  return new Map(
    [...own.matchAll(/^\| ([a-z][^|]*?) +\| +(\d+) \| +(\d+) \| +(\d+) \|$/gm)].map(
      ([, name = '', statements, commits, notifications]) => [
        name,
        {
          statements: Number(statements),
          commits: Number(commits),
          notifications: Number(notifications),
        },
      ],
    ),
  )
}

type Journey = (service: Service) => Promise<() => Promise<unknown>>

const newAgent = () => ({ name: fresh('agent'), model: 'offline', tools: [] })
const tools = [{ type: 'agent_toolset_20260401' }]

/** What is set up before is not counted; what comes back is one run. */
const journeys: Record<string, Journey> = {
  'an agent is made': async (service) => () => ok(service, 'POST', '/v1/agents', newAgent()),

  async 'an agent is read'(service) {
    const made = await service.ask('POST', '/v1/agents', newAgent())
    return () => ok(service, 'GET', `/v1/agents/${made.body.id}`)
  },

  async 'a session is made'(service) {
    const agent = await service.ask('POST', '/v1/agents', newAgent())
    const environment = await service.ask('POST', '/v1/environments', { name: fresh('e') })
    const body = { agent: agent.body.id, environment_id: environment.body.id }
    return () => ok(service, 'POST', '/v1/sessions', body)
  },

  async 'a message and its turn'(service) {
    const session = await newSession(service)
    return () => send(service, session, 'say: x')
  },

  async 'a message and its turn with a command'(service) {
    const session = await newSession(service, { tools })
    return () => send(service, session, 'run: true\nsay: x')
  },

  async 'a page of the log'(service) {
    const session = await newSession(service)
    await costUntilRest(() => send(service, session, 'say: x'))
    return () => ok(service, 'GET', `/v1/sessions/${session}/events?limit=100`)
  },

  async 'a poll without work'(service) {
    const pool = await newPool(service)
    return () => poll(service, pool)
  },

  async 'a poll with work, and its acknowledgement'(service) {
    const pool = await newPool(service)
    const body = { initial_events: [message('run: true')] }
    for (let n = 0; n <= runs; n++) await sessionIn(service, pool, {}, body)
    return async () => {
      const item = await poll(service, pool)
      await acknowledge(service, pool, item?.id ?? 'none')
    }
  },

  async 'a heartbeat'(service) {
    const pool = await newPool(service)
    await sessionIn(service, pool, {}, { initial_events: [message('run: true')] })
    const item = await poll(service, pool)
    await acknowledge(service, pool, item?.id ?? 'none')
    const headers = { 'x-api-key': '', authorization: `Bearer ${pool.key}` }
    const path = `${pool.path}/work/${item?.id}/heartbeat`
    return async () =>
      assert.equal((await service.ask('POST', path, undefined, headers)).status, 200)
  },
}

async function ok(service: Service, method: string, path: string, body?: object): Promise<void> {
  const answer = await service.ask(method, path, body)
  assert.ok(answer.status < 300, JSON.stringify(answer.body))
}

const send = (service: Service, session: string, text: string) =>
  ok(service, 'POST', `/v1/sessions/${session}/events`, { events: [message(text)] })

for (const database of databases)
  describe(`on ${database}, no more is asked of the database than its budget when`, () => {
    let service: Service
    const budgets = budgetsOf(database)
    before(async () => {
      service = await boot(database)
    })
    after(() => service.close())

    for (const [name, journey] of Object.entries(journeys))
      it(name, async () => {
        const run = await journey(service)
        await costUntilRest(run)
        const costs = []
        for (let n = 0; n < runs; n++) costs.push(await costUntilRest(run))
        const [cheapest] = costs.toSorted((a, b) => a.statements - b.statements)
        assert.ok(cheapest)
        const { texts, ...cost } = cheapest
        const list = texts.map((text) => `  ${text.replaceAll(/\s+/g, ' ')}`).join('\n')
        const budget = budgets.get(name)
        assert.ok(budget, `docs/statements.md has no budget for "${name}"`)
        for (const each of ['statements', 'commits', 'notifications'] as const)
          assert.ok(
            cost[each] <= budget[each],
            `${cost[each]} ${each}, and the budget is ${budget[each]}:\n${list}`,
          )
      })
  })
