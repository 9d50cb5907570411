/** An agent with a skill, a memory store, a vault, a custom tool and tools that ask for permission. */
import type Anthropic from '@anthropic-ai/sdk'
import { toFile } from '@anthropic-ai/sdk'
import type { Event } from './turn.ts'
import { answerOf, message, model, toolset, turn } from './turn.ts'

const skillText = `---
name: weather-report
description: How to write a report on the weather
---
Ask for the weather first.
`

const getWeather = {
  type: 'custom' as const,
  name: 'get_weather',
  description: 'The weather of a city',
  input_schema: {
    type: 'object' as const,
    properties: { city: { type: 'string', description: 'Its name' } },
    required: ['city'],
  },
}

async function given(client: Anthropic) {
  const { beta, skills } = client
  const file = await toFile(Buffer.from(skillText), 'weather-report/SKILL.md')
  const skill = await skills.create({ display_name: 'Weather report', files: [file] })
  const store = await beta.memoryStores.create({ name: 'Places', description: 'Where people live' })
  await beta.memoryStores.memories.create(store.id, { path: '/home.md', content: 'Berlin' })
  const vault = await beta.vaults.create({ display_name: 'Keys', metadata: { team: 'weather' } })
  await beta.vaults.credentials.create(vault.id, {
    display_name: 'Weather service',
    auth: {
      type: 'static_bearer',
      token: 'not a real one',
      mcp_server_url: 'https://weather.example/mcp',
    },
  })
  const environment = await beta.environments.create({
    name: 'comprehensive-environment',
    description: 'Reaches one host',
    config: {
      type: 'cloud',
      networking: { type: 'limited', allowed_hosts: ['weather.example'], allow_mcp_servers: true },
    },
    metadata: { purpose: 'example' },
  })
  return { skill, store, vault, environment }
}

/** Answers the calls of the custom tool and allows the calls that ask, until the turn ends. */
async function converse(client: Anthropic, session: string, text: string): Promise<Event[]> {
  const events: Event[] = []
  let posted = message(text)
  for (;;) {
    for await (const event of turn(client, session, posted)) events.push(event)
    const idle = events.at(-1)
    if (idle?.type !== 'session.status_idle') throw new Error('the turn has no end')
    if (idle.stop_reason.type !== 'requires_action') return events
    const { event_ids } = idle.stop_reason
    posted = events.flatMap((event) => {
      if (!('id' in event) || !event_ids.includes(event.id)) return []
      if (event.type === 'agent.custom_tool_use')
        return {
          type: 'user.custom_tool_result' as const,
          custom_tool_use_id: event.id,
          content: [{ type: 'text' as const, text: `sunny in ${String(event.input['city'])}` }],
        }
      if (event.type !== 'agent.tool_use') return []
      return {
        type: 'user.tool_confirmation' as const,
        tool_use_id: event.id,
        result: 'allow' as const,
      }
    })
  }
}

/** A waiting event has no `processed_at`. The stream shows it again when the agent processes it. */
const isKept = (event: Event): boolean => 'processed_at' in event && Boolean(event.processed_at)

export async function comprehensive(client: Anthropic) {
  const { beta, skills } = client
  const { skill, store, vault, environment } = await given(client)
  const bash = { name: 'bash', permission_policy: { type: 'always_ask' } } as const
  const agent = await beta.agents.create({
    ...{ name: 'Reporter', model: { id: model, effort: 'low' }, description: 'Writes reports' },
    system: 'You write short reports.',
    tools: [{ ...toolset, configs: [bash, { name: 'web_search', enabled: false }] }, getWeather],
    skills: [{ type: 'custom', skill_id: skill.id }],
    metadata: { team: 'weather' },
  })
  const next = await beta.agents.update(agent.id, {
    version: agent.version,
    system: 'You write very short reports.',
  })
  const session = await beta.sessions.create({
    ...{ environment_id: environment.id, title: 'A report', metadata: { asked_by: 'somebody' } },
    agent: { type: 'agent', id: agent.id, version: next.version },
    vault_ids: [vault.id],
    resources: [{ type: 'memory_store', memory_store_id: store.id, access: 'read_write' }],
  })
  const text = [
    'call get_weather {"city": "Berlin"}',
    'run: cat /mnt/memory/places/home.md; echo Paris > /mnt/memory/places/away.md',
  ]
  const events = await converse(client, session.id, text.join('\n'))
  const kept = await Array.fromAsync(beta.sessions.events.list(session.id, { limit: 5 }))
  const memories = await Array.fromAsync(beta.memoryStores.memories.list(store.id))
  const { usage, status } = await beta.sessions.retrieve(session.id)
  const titled = await beta.sessions.update(session.id, {
    title: 'Done',
    metadata: { asked_by: null },
  })
  const found = await Array.fromAsync(
    beta.sessions.list({ agent_id: agent.id, statuses: ['idle'] }),
  )
  await beta.sessions.delete(session.id)
  await beta.vaults.delete(vault.id)
  await beta.memoryStores.delete(store.id)
  await beta.agents.archive(agent.id)
  await beta.environments.delete(environment.id)
  await skills.delete(skill.id)
  return {
    answer: answerOf(events),
    ...{ version: next.version, status, title: titled.title, found: found.map(({ id }) => id) },
    ...{ session: session.id, tokens: usage.output_tokens ?? 0, metadata: titled.metadata },
    paths: memories.map((each) => each.path).toSorted((a, b) => (a < b ? -1 : 1)),
    isWhole: JSON.stringify(kept) === JSON.stringify(events.filter(isKept)),
  }
}
