/** A coordinator with agents that it can start, and a stub model that answers each agent by its name. */
import { anthropicDialect } from '@steward/model/stubs/stub-anthropic.ts'
import type {
  StubAnswer,
  StubRequest,
  StubReply,
  StubModel,
} from '@steward/model/stubs/stub-server.ts'
import { startStub } from '@steward/model/stubs/stub-server.ts'
import { pricedModel } from './priced-model.ts'
import type { ServiceClients } from './service.ts'
import { boot } from './service.ts'
import { fresh } from './turns.ts'

const usage = { input: 150, output: 50 }

export const says = (text: string): StubAnswer => ({
  blocks: [{ type: 'text', pieces: [...text.matchAll(/\s*\S+/g)].map(([piece]) => piece) }],
  stop: 'end_turn',
  usage,
})

let calls = 0

export const uses = (...made: [name: string, input: object][]): StubAnswer => ({
  blocks: made.map(([name, input]) => ({
    type: 'tool_call',
    id: `toolu_${++calls}`,
    name,
    pieces: [JSON.stringify(input)],
  })),
  stop: 'tool_use',
  usage,
})

export const starts = (...given: [agent: string, message: string][]): StubAnswer =>
  uses(
    ...given.map(([agent, text]): [string, object] => ['create_agent', { agent, message: text }]),
  )

type TeamScript = (StubReply | ((request: StubRequest) => StubReply))[]

/** Words that identify the requests of the advisor and the grader, which are not agents of the test. */
const words: Record<string, string> = {
  advisor: 'You advise an agent',
  grader: 'You judge the work of an agent',
}

/** Answers each agent, `advisor` and `grader` from its own list and repeats the last entry. */
export function teamOf(
  stub: StubModel,
  scripts: Record<string, TeamScript>,
): Record<string, StubRequest[]> {
  const asked: Record<string, StubRequest[]> = Object.fromEntries(
    Object.keys(scripts).map((name) => [name, []]),
  )
  stub.repliesBy((request) => {
    const system = JSON.stringify(request.body['system'] ?? '')
    const name = Object.keys(scripts).find((each) => system.includes(words[each] ?? `[${each}]`))
    if (name === undefined) return undefined
    asked[name]?.push(request)
    const script = scripts[name] ?? []
    const reply = script.length > 1 ? script.shift() : script[0]
    return typeof reply === 'function' ? reply(request) : reply
  })
  return asked
}

type TeamMember = { name: string } & Record<string, unknown>

/** Creates a session of a coordinator with the name `boss`. */
export async function newTeam(
  service: ServiceClients,
  model: string,
  members: readonly TeamMember[],
  {
    boss = {},
    session = {},
    isAdvised = false,
  }: { boss?: object; session?: object; isAdvised?: boolean } = {},
): Promise<string> {
  const { beta } = service.client
  const agents: string[] = []
  for (const { name, ...more } of members)
    agents.push((await beta.agents.create({ name, model, system: `[${name}]`, ...more })).id)
  const advisors = isAdvised ? [{ type: 'advisor' as const, model }] : []
  const multiagent = { type: 'coordinator' as const, agents: [...agents, ...advisors] }
  const of = { name: 'boss', model, system: '[boss]', multiagent, ...boss }
  const { id: agent } = await beta.agents.create(of)
  const environment = await beta.environments.create({ name: fresh('environment') })
  return (await beta.sessions.create({ agent, environment_id: environment.id, ...session })).id
}

/** Starts a service and a stub whose model has a price. */
export async function startTeam(database: 'sqlite' | 'postgres') {
  const service = await boot(database)
  const stub = await startStub(anthropicDialect)
  const model = await pricedModel(service, stub, { input: 1_000, output: 1_000 })
  const close = async () => {
    await service.close()
    await stub[Symbol.asyncDispose]()
  }
  return { service, stub, model, close }
}
export type TestTeam = Awaited<ReturnType<typeof startTeam>>
