/** What the tests of the console look at: agents and sessions, made by the interface. */
import { accept } from '../people.ts'
import type { TestService } from '../service.ts'
import type { TestBrowser, Visit } from './browser.ts'

type Asking = Pick<TestService, 'ask'>

/** `policy`: whether the agent's tools ask before they run. */
export async function makeAgent({ ask }: Asking, name: string, policy = 'always_allow') {
  const { body } = await ask('POST', '/v1/agents', {
    name,
    model: 'offline',
    tools: [
      {
        type: 'agent_toolset_20260401',
        default_config: { permission_policy: { type: policy } },
      },
    ],
  })
  return body.id
}

export async function makeSession(
  { ask }: Asking,
  made: { agent: string; environment: string; title: string; message?: string },
): Promise<string> {
  const { agent, environment: environment_id, title, message } = made
  const { body } = await ask('POST', '/v1/sessions', { agent, environment_id, title })
  if (message !== undefined) await say({ ask }, body.id, message)
  return body.id
}

export async function say({ ask }: Asking, session: string, text: string): Promise<void> {
  const content = [{ type: 'text', text }]
  await ask('POST', `/v1/sessions/${session}/events`, {
    events: [{ type: 'user.message', content }],
  })
}

export async function makeEnvironment({ ask }: Asking): Promise<string> {
  const { body } = await ask('POST', '/v1/environments', { name: 'node-24' })
  return body.id
}

/** The browser of a person who has this role. */
export async function visitAs(
  service: TestService,
  browser: TestBrowser,
  role: 'viewer' | 'member' | 'admin',
): Promise<Visit> {
  const { body: me } = await service.ask<{ active_workspace_id: string }>('GET', '/v1/ext/me')
  const token = await service.invite(me.active_workspace_id, role)
  const person = { email: `${role}@example.com`, name: role }
  const { cookie } = await accept(service, token, person)
  const [name = '', value = ''] = cookie.split(/=(.*)/s)
  const visit = await browser.visit(service.base)
  await visit.context.addCookies([{ name, value, url: service.base }])
  return visit
}
