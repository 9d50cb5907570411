/** Tools that run in this program, and a report of each answered call. */
import type Anthropic from '@anthropic-ai/sdk'
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema'
import { message, model } from './turn.ts'

const numbers = {
  type: 'object' as const,
  properties: { a: { type: 'number' as const }, b: { type: 'number' as const } },
  required: ['a', 'b'],
}
const nothing = { type: 'object' as const, properties: {} }

const add = betaTool({
  name: 'add',
  description: 'Adds two numbers',
  inputSchema: numbers,
  run: ({ a, b }) => String(Number(a) + Number(b)),
})
const fail = betaTool({
  name: 'fail',
  description: 'Never works',
  inputSchema: nothing,
  run: () => Promise.reject(new Error('out of order')),
})

export async function observingToolCalls(client: Anthropic) {
  const { beta } = client
  const environment = await beta.environments.create({ name: 'observed-environment' })
  const agent = await beta.agents.create({
    ...{ name: 'Calculator', model },
    tools: [
      { type: 'custom', name: 'add', description: 'Adds two numbers', input_schema: numbers },
      { type: 'custom', name: 'fail', description: 'Never works', input_schema: nothing },
    ],
  })
  const session = await beta.sessions.create({ environment_id: environment.id, agent: agent.id })
  const runner = beta.sessions.events.toolRunner(session.id, { tools: [add, fail], maxIdleMs: 300 })
  const events = message('call add {"a": 2, "b": 3}\ncall fail')
  const calls: { name: string; input: unknown; isError: boolean; posted: boolean }[] = []
  const watching = (async () => {
    for await (const { name, event, isError, posted } of runner)
      calls.push({ name, input: event.input, isError, posted })
  })()
  await beta.sessions.events.send(session.id, { events })
  await watching
  await beta.sessions.archive(session.id)
  await beta.agents.archive(agent.id)
  await beta.environments.archive(environment.id)
  return calls
}
