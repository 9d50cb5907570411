/** Publications of apps, what came for them, and what their agents were given, for scenarios. */
import assert from 'node:assert/strict'
import { z } from 'zod'
import { returnFrom } from './github.ts'
import type { TestService } from './service.ts'
import { fresh } from './turns.ts'

type AgentTools = Parameters<TestService['client']['beta']['agents']['create']>[0]['tools']

export const kinds = '/v1/ext/integrations'

const Delivery = z.looseObject({
  id: z.string(),
  state: z.string(),
  reason: z.string().nullable(),
  session_id: z.string().nullable(),
  provider_number: z.string().nullable(),
  missing: z.array(z.string()),
  answer: z
    .object({ state: z.string(), url: z.string().nullable(), reason: z.string().nullable() })
    .nullable(),
})

/** Installs an app as a person does, who returns from the provider with a code. */
export async function installApp(service: TestService, app: string): Promise<string> {
  const { body: begun } = await service.ask('POST', `${kinds}/${app}/install`, {})
  const state = new URL(String(begun['url'])).searchParams.get('state') ?? ''
  const query = new URLSearchParams({ code: 'a code', state })
  const { status, body } = await returnFrom(service, app, query)
  assert.equal(status, 200, JSON.stringify(body))
  return body.id
}

/** Publishes a new agent. Without `tools` it runs its commands without a question. */
export async function publishAgent(
  service: TestService,
  {
    app,
    installation,
    environment,
    source,
    tools = [{ type: 'agent_toolset_20260401' }],
  }: {
    app: string
    installation: string
    environment: string
    source: object
    tools?: AgentTools
  },
) {
  const agent = await service.client.beta.agents.create({
    ...{ name: fresh('agent'), model: 'offline' },
    tools,
  })
  const { status, body } = await service.ask('POST', `${kinds}/${app}/publications`, {
    ...{ agent: agent.id, environment_id: environment, installation_id: installation },
    ...source,
  })
  assert.equal(status, 200, JSON.stringify(body))
  const path = `${kinds}/${app}/publications/${body.id}`
  return {
    id: body.id,
    body,
    path,
    deliveries: async () =>
      z.array(Delivery).parse((await service.ask('GET', `${path}/deliveries`)).body.data),
    async [Symbol.asyncDispose]() {
      await service.ask('DELETE', path)
    },
  }
}

/** The texts of the messages that the session was given. */
export async function givenTexts(
  service: TestService,
  session: string | null | undefined,
): Promise<string[]> {
  const events = await service.client.beta.sessions.events.list(String(session))
  return events.data.flatMap((each) =>
    each.type === 'user.message'
      ? each.content.flatMap((block) => ('text' in block ? block.text : []))
      : [],
  )
}

/** The context of a message: the line of JSON in its fence. */
export function contextIn(text: string | undefined): Record<string, unknown> {
  const line = text?.split('\n').find((each) => each.startsWith('{')) ?? '{}'
  return z.record(z.string(), z.unknown()).parse(JSON.parse(line))
}

const entries = z.array(
  z
    .looseObject({ author: z.string().nullable(), text: z.string() })
    .or(z.object({ left_out: z.number() })),
)

/** A list of what people have said, as lines. */
export const saidIn = (list: unknown): string[] =>
  entries
    .parse(list)
    .map((each) =>
      'text' in each ? `${each.author}: ${each.text}` : `(${each.left_out} left out)`,
    )
