/**
 * The ids that the isolation walk requests: for each path parameter, an id of the first tenant and an id that never
 * existed.
 */
import assert from 'node:assert/strict'
import { iso } from '@steward/base/time.ts'
import { newId } from '@steward/server/ground/core/text/ids.ts'
import { rows } from '@steward/server/ground/database/rows.ts'
import type { Role } from '@steward/server/ground/core/security/roles.ts'
import { permissions } from '@steward/server/ground/http/permissions.ts'
import type { Route } from '@steward/server/ground/http/route.ts'
import { uploadFile } from './files.ts'
import { accept, firstLink } from './people.ts'
import type { TestService } from './service.ts'
import { openStream } from './reader.ts'
import { skillText } from './skills.ts'
import { message, newSession, turn } from './turns.ts'
import { until } from './until.ts'

export const canary = 'canary of the first tenant'
/** Beta header of the memory store routes. Without it they refuse every request. */
export const memoryBeta = 'agent-memory-2026-07-22'

/** Valid bodies for routes that refuse `{}`, so that a refusal concerns the object and not the body. */
const bodies: Record<string, object> = {
  'post /v1/messages': {
    model: 'offline',
    max_tokens: 100,
    messages: [{ role: 'user', content: 'say: hello' }],
  },
  'post /v1/messages/count_tokens': {
    model: 'offline',
    messages: [{ role: 'user', content: 'say: hello' }],
  },
  'post /v1/sessions/:id/events': { events: [message('say: x')] },
  'post /v1/sessions/:id/messages': { content: 'say: x' },
  'post /v1/ext/sessions/:id/waiting_messages/:message': { content: 'x' },
  'post /v1/ext/sessions/:id/allowances': { tool: 'x' },
  'post /openai/v1/agents/sessions/:id/events': {
    events: [{ type: 'agent.session.input.cancel' }],
  },
  'post /openai/v1/vaults/:id/credentials': {
    name: 'x',
    auth: { type: 'static_bearer', token: 'x', mcp_server_url: 'https://y.example' },
  },
  'post /openai/v1/skills/:id': { default_version: 'latest' },
  'post /openai/v1/agents/environments/:id/files': {
    ...{ type: 'file_id', file_id: 'file_of_nobody', path: '/workspace/a' },
  },
  'post /v1/memory_stores/:id/memories': { path: '/x', content: 'x' },
  'post /v1/vaults/:id/credentials': {
    auth: { type: 'static_bearer', token: 'x', mcp_server_url: 'https://x.example' },
  },
  'post /v1/organizations/workspaces/:id/rate_limits/:rate_limit_id': {
    limits: [{ type: 'requests_per_minute', value: 5 }],
  },
  'post /v1/ext/quotas/:name': { limit: 5 },
  'post /v1/sessions/:id/resources': { type: 'file', file_id: 'file_of_nobody' },
  'post /v1/environments/:id/work/:work': { metadata: {} },
  'patch /v1/environments/:id/work/:work': { metadata: {} },
  'post /v1/environments/:id/work/:work/stop': {},
  'post /v1/sessions/:id/resources/:resource': { authorization_token: 'x' },
  'post /v1/ext/stdio-servers/:session_id': { servers: [] },
  'post /v1/ext/command-output/:session_id': { tool_use_id: 'sevt_of_nobody' },
  'post /v1/ext/checkpoints/:session_id/use': { folder: 'x', seen: null },
  'post /v1/ext/checkpoints/:session_id': {
    made: { base: { key: 'x', size: 0, sha256: '0'.repeat(64) }, delta: null },
    seen: { folder: 'x', parts: null, taken_at: null },
  },
  'post /v1/ext/inputs/:session_id/repositories/:resource/failure': {
    ...{ type: 'repository_clone_error', message: 'x' },
  },
  'post /v1/ext/integrations/:app/uninstall': { installation_id: 'inst_of_nobody' },
  'post /v1/ext/integrations/:id/publications': {
    agent: 'agent_of_nobody',
    environment_id: 'env_of_nobody',
    webhook: { mapping: { scope: '/a', author: '/b', text: '/c' }, authors: [] },
  },
  'post /v1/ext/members/:id': { role: 'viewer' },
  'post /v1/organizations/workspaces/:id': { name: 'x' },
  'post /v1/organizations/users/:id': { role: 'user' },
  'post /v1/organizations/webhooks': {
    ...{ url: 'https://x.example/hook', enabled_events: ['agent.archived'] },
  },
  'post /v1/organizations/workspaces/:id/members': {
    user_id: 'user_of_nobody',
    workspace_role: 'workspace_user',
  },
  'post /v1/organizations/workspaces/:id/members/:user_id': { workspace_role: 'workspace_user' },
  'post /v1/ext/inputs/:session_id/failure': { message: 'x' },
  'post /v1/ext/inputs/:session_id/stores/:store/contents': { paths: [] },
  'post /v1/ext/inputs/:session_id/stores/:store/changes': { changes: [] },
}

/** Valid queries for routes that require one. */
const queries: Record<string, string> = {
  'delete /v1/organizations/workspaces/:id': '?confirm=x',
  'delete /v1/ext/me': '?confirm=x',
  'get /v1/ext/sessions/:id/find': '?q=x',
}

export const queryOf = (route: Pick<Route, 'method' | 'path'>): string =>
  queries[`${route.method} ${route.path}`] ?? ''

/** Ids by the path that ends with the parameter. `theirs`: the first tenant's. `never`: an id that never existed. */
export type PathFixtures = Record<string, { theirs: string; never: string }>

const neverOf = (id: string): string => id.slice(0, -12) + '0'.repeat(12)

/** The id of a stream that is open until the service ends. */
async function openedStream(service: TestService): Promise<string> {
  const stream = await openStream(service, '/v1/ext/stream')
  const [opened] = await stream.untilType('stream.opened')
  return String(opened?.data.id)
}

const firstEvent = async (service: TestService, session: string): Promise<string> =>
  (await service.ask('GET', `/v1/sessions/${session}/events?limit=1`)).body.data[0]?.id ?? ''

export async function makeFixtures(service: TestService): Promise<PathFixtures> {
  const ada = await accept(service, firstLink(service), {
    email: 'ada@first.example',
    name: canary,
  })
  const { body: owner } = await ada.ask<{ user: { id: string } }>('GET', '/v1/ext/me')
  const make = async (path: string, body?: object) =>
    (await service.ask('POST', path, body && { name: canary, ...body })).body.id
  const multiagent = { type: 'coordinator', agents: [{ type: 'self' }] }
  const session = await newSession(service, { name: canary, system: canary, multiagent })
  const child = { agent: canary, message: `say: ${canary}` }
  await turn(service, session, `call create_agent ${JSON.stringify(child)}`)
  const readThreads = () => service.ask('GET', `/v1/sessions/${session}/threads`)
  // The walk compares all data before and after, so nothing may still be running.
  await until(async () => (await readThreads()).body.data.every(({ status }) => status === 'idle'))
  const threads = await readThreads()
  const turns = await service.ask('GET', `/openai/v1/agents/sessions/${session}/turns`)
  const thread = threads.body.data.find((each) => each['parent_thread_id'] !== null)?.id ?? ''
  const ofThread = `/openai/v1/agents/sessions/${session}/subagents/${thread}/turns`
  const turnOfThread = (await service.ask('GET', ofThread)).body.data[0]?.id ?? ''
  assert.notEqual(turnOfThread, '')
  const turnId = turns.body.data[0]?.id ?? ''
  const card = {
    name: undefined,
    model_id: 'first-handle-000000000000',
    provider: 'walled',
    model: canary,
    api_key: 'sk-first-tenant',
    base_url: 'https://models.example',
    native_config: { api: 'openai-completions' },
  }
  const vault = await make('/v1/vaults', {})
  const beta = { 'vendor-beta': memoryBeta }
  const ofStores = async (method: string, path: string, body?: object) =>
    (await service.ask(method, `/v1/memory_stores${path}`, body, beta)).body
  const store = (await ofStores('POST', '', { name: canary })).id
  const memory = (await ofStores('POST', `/${store}/memories`, { path: '/a', content: canary })).id
  const versions = await ofStores('GET', `/${store}/memory_versions`)
  const auth = { type: 'static_bearer', token: canary, mcp_server_url: 'https://first.example' }
  const credential = { name: undefined, auth, display_name: canary }
  const credentialId = await make(`/v1/vaults/${vault}/credentials`, credential)
  const file = await uploadFile(service, { name: canary, content: canary })
  const { body: resource } = await service.ask('POST', `/v1/sessions/${session}/resources`, {
    type: 'file',
    file_id: file.id,
  })
  const files = [{ filename: 'SKILL.md', content: skillText('first', canary, canary) }]
  const skill = await make('/v1/skills', { name: undefined, files })
  const environment = await make('/v1/environments', { config: { type: 'self_hosted' } })
  const agent = await make('/v1/agents', { model: 'offline', tools: [] })
  const alone = { name: undefined, agent, environment_id: environment }
  const withoutThreads = await make('/v1/sessions', alone)
  const allowed = async (of: string): Promise<string> => {
    const tool = 'tool-of-the-first-aaaaaaaaaaaa'
    await service.ask('POST', `/v1/ext/sessions/${of}/allowances`, { tool })
    return tool
  }
  const work = await service.ask('GET', `/v1/environments/${environment}/work`)
  const evalRun = await make('/v1/ext/evals', {
    agent,
    environment_id: await make('/v1/environments', { name: 'of an eval' }),
    samples: [{ input: `say: ${canary}` }],
    graders: [{ name: 'says', type: 'text', op: 'includes', value: canary }],
  })
  const deployment = await make('/v1/deployments', {
    agent,
    environment_id: await make('/v1/environments', { name: 'of a deployment' }),
    initial_events: [message(`say: ${canary}`)],
  })
  const automation = await make('/openai/v1/agents/automations', {
    ...{ type: 'periodic', expression: '0 9 * * *', timezone: 'UTC' },
    target: { type: 'existing_session', session_id: session, instructions: canary },
  })
  const invocation = await make(`/openai/v1/agents/automations/${automation}/invocations`)
  await until(async () => {
    const { body } = await service.ask('GET', `/openai/v1/agents/sessions/${session}/turns`)
    return body.data.length === 2 && body.data.every((each) => each['status'] === 'completed')
  })
  const { body: run } = await service.ask('POST', `/v1/deployments/${deployment}/run`)
  await until(async () => {
    const { body } = await service.ask('GET', `/v1/sessions/${String(run['session_id'])}`)
    return body['status'] === 'idle'
  })
  const dream = await make('/v1/dreams', {
    name: undefined,
    inputs: [
      { type: 'memory_store', memory_store_id: store },
      { type: 'sessions', session_ids: [session] },
    ],
    model: 'offline',
    instructions: `say: ${canary}`,
  })
  const hook = await make('/v1/ext/webhook_endpoints', {
    name: undefined,
    url: 'https://first.example/hook',
    enabled_events: ['agent.archived'],
    description: canary,
  })
  const publication = await make('/v1/ext/integrations/webhook/publications', {
    ...{ name: undefined, agent, environment_id: environment },
    webhook: {
      mapping: { scope: '/a', author: '/b', text: '/c', context: { [canary]: '/d' } },
      authors: ['ada'],
    },
  })
  const { id: workspace } = await service.database.read
    .selectFrom('workspaces')
    .select('id')
    .executeTakeFirstOrThrow()
  const newMember = async (email: string): Promise<string> => {
    const joined = await accept(service, await service.invite(workspace, 'member'), { email })
    const { body } = await joined.ask<{ user: { id: string } }>('GET', '/v1/ext/me')
    return body.user.id
  }
  /** The walk deletes what it can, so the hold is released. */
  const releasedHold = async (session_id: string): Promise<string> => {
    const scope = { type: 'session', session_id }
    const hold = await make('/v1/ext/holds', { name: undefined, scope, reason: canary })
    await make(`/v1/ext/holds/${hold}/release`)
    return hold
  }
  const ids = {
    '/v1/organizations/workspaces/:id': workspace,
    '/v1/environments/:id/work/:work': work.body.data[0]?.id ?? '',
    '/v1/files/:id': file.id,
    '/v1/sessions/:id/resources/:resource': resource.id,
    '/v1/memory_stores/:id': store,
    '/v1/memory_stores/:id/memories/:memory_id': memory,
    '/v1/memory_stores/:id/memory_versions/:version_id': versions.data[0]?.id ?? '',
    '/v1/skills/:id': skill,
    '/openai/v1/skills/:id': skill,
    '/v1/vaults/:id': vault,
    '/v1/vaults/:id/credentials/:credential_id': credentialId,
    '/openai/v1/vaults/:id': vault,
    '/openai/v1/vaults/:id/credentials/:credential_id': credentialId,
    '/openai/v1/agents/:id': agent,
    '/openai/v1/files/:id': file.id,
    '/openai/v1/agents/automations/:id': automation,
    '/openai/v1/agents/automations/:id/invocations/:invocation_id': invocation,
    '/openai/v1/agents/environments/:id': environment,
    '/openai/v1/agents/environments/templates/:id': environment,
    '/openai/v1/agents/sessions/:id': session,
    '/openai/v1/agents/sessions/:id/turns/:turn_id': turnId,
    '/openai/v1/agents/sessions/:id/artifacts/:artifact_id': file.id,
    '/openai/v1/agents/sessions/:id/subagents/:subagent_id': thread,
    '/openai/v1/agents/sessions/:id/subagents/:subagent_id/turns/:turn_id': turnOfThread,
    '/v1/agents/:id': agent,
    '/v1/ext/agents/:id': agent,
    '/v1/ext/environments/:id': environment,
    '/v1/ext/views/:id': await make('/v1/ext/views', { noun: 'sessions', filters: canary }),
    '/v1/deployments/:id': deployment,
    '/v1/ext/deployments/:id': deployment,
    '/v1/deployment_runs/:id': run.id,
    '/v1/dreams/:id': dream,
    '/v1/ext/evals/:id': evalRun,
    '/v1/ext/eval_datasets/:id': await make('/v1/ext/eval_datasets', {}),
    '/v1/environments/:id': environment,
    '/v1/sessions/:id': session,
    '/v1/ext/sessions/:id/waiting_messages/:message': 'sevt_000000000000000000000000000',
    '/v1/ext/sessions/:id/allowances/:tool': await allowed(withoutThreads),
    '/v1/sessions/:id/events/:event_id': await firstEvent(service, session),
    '/v1/ext/stream/:id': await openedStream(service),
    '/v1/ext/sessions/:id': withoutThreads,
    '/v1/ext/mcp-proxy/:session_id': session,
    '/v1/ext/model-gateway/:session_id': session,
    '/v1/ext/egress/:session_id': session,
    '/v1/ext/stdio-servers/:session_id': session,
    '/v1/ext/command-output/:session_id': session,
    '/v1/ext/checkpoints/:session_id': session,
    '/v1/ext/checkpoints/:session_id/parts/:part': 'chkpt_000000000000000000',
    '/v1/ext/outputs/:session_id': session,
    '/v1/ext/inputs/:session_id': session,
    '/v1/ext/inputs/:session_id/repositories/:resource': 'sesrsc_000000000000000000',
    '/v1/ext/inputs/:session_id/files/:file': 'file_000000000000000000',
    '/v1/ext/inputs/:session_id/stores/:store': 'memstore_000000000000000000',
    '/v1/sessions/:id/threads/:thread': thread,
    '/v1/models/:id': card.model_id,
    '/v1/ext/model_cards/:id': await make('/v1/ext/model_cards', card),
    '/v1/ext/integrations/webhook/webhook/:pub_id': publication,
    '/v1/ext/integrations/:integration_id/publications/:pub_id': publication,
    '/v1/ext/integrations/:integration_id/publications/:pub_id/deliveries/:delivery_id':
      await keptDelivery(service, publication),
    '/v1/ext/webhook_endpoints/:id': hook,
    '/v1/ext/webhook_endpoints/:id/deliveries/:delivery': await make(
      `/v1/ext/webhook_endpoints/${hook}/test`,
    ),
    '/v1/ext/api_keys/:id': await make('/v1/ext/api_keys', {}),
    '/v1/organizations/api_keys/:id': await make('/v1/ext/api_keys', {}),
    '/v1/organizations/spend_limits/:id': await make('/v1/organizations/spend_limits', {
      ...{ name: undefined, period: 'monthly', amount: '1', is_enabled: false },
    }),
    '/v1/ext/invitations/:id': await make('/v1/ext/invitations', {
      name: undefined,
      role: 'viewer',
    }),
    '/v1/organizations/invites/:id': await make('/v1/organizations/invites', {
      ...{ name: undefined, email: 'nobody@first.example', role: 'user' },
    }),
    '/v1/ext/members/:id': owner.user.id,
    '/v1/organizations/users/:id': await newMember('bea@first.example'),
    '/v1/organizations/workspaces/:id/members/:user_id': await newMember('cy@first.example'),
    '/v1/organizations/webhooks/:id': await make('/v1/organizations/webhooks', {
      ...{ url: 'https://first.example/other', enabled_events: ['agent.archived'] },
    }),
    '/v1/ext/holds/:id': await releasedHold(withoutThreads),
    '/v1/ext/people/:id': owner.user.id,
    '/v1/ext/auth/sign_ins/:id': 'signin_000000000000000000',
    '/signin/invitation/:token': 'invitation-of-the-first-000000000000',
    '/v1/ext/oauth/:provider': 'provider-of-the-first-000000000000',
  }
  const fixtures: PathFixtures = { '/v1/agents/:id/versions/:version': { theirs: '1', never: '1' } }
  for (const [path, id] of Object.entries(ids)) fixtures[path] = { theirs: id, never: neverOf(id) }
  fixtures['/v1/organizations/workspaces/:id/rate_limits/:rate_limit_id'] = {
    ...{ theirs: 'rl_writes', never: 'rl_writes' },
  }
  // Files of the console are the same for everybody; its pages, which end in {.+}, are one page.
  fixtures['/console/assets/:file'] = { theirs: 'none', never: 'none' }
  fixtures['/console/:page'] = { theirs: 'none', never: 'none' }
  // So is the documentation.
  fixtures['/docs/:page'] = { theirs: 'none', never: 'none' }
  // Quotas have the same names in each workspace, so this name is one that none has.
  fixtures['/v1/ext/quotas/:name'] = { theirs: 'none', never: 'none' }
  // Kinds of integrations have the same ids in each workspace too.
  fixtures['/v1/ext/integrations/:id'] = { theirs: 'none', never: 'none' }
  fixtures['/v1/ext/integrations/:app'] = { theirs: 'none', never: 'none' }
  fixtures['/v1/ext/integrations/:integration_id'] = { theirs: 'webhook', never: 'webhook' }
  fixtures['/v1/skills/:id/versions/:version'] = { theirs: 'latest', never: 'latest' }
  fixtures['/openai/v1/skills/:id/versions/:version'] = { theirs: 'latest', never: 'latest' }
  for (const folder of ['/v1/skills/:id', '/v1/skills/:id/versions/:version'])
    fixtures[`${folder}/files/:filename`] = { theirs: 'SKILL.md', never: 'SKILL.md' }
  const server = '/v1/ext/mcp-proxy/:session_id/:server_name'
  fixtures[server] = { theirs: 'a-server-of-the-first', never: 'a-server-that-never-was' }
  for (const output of ['/v1/sessions/:id', '/v1/ext/outputs/:session_id'])
    fixtures[`${output.replace(':id', ':id/outputs')}/:filename`] = {
      ...{ theirs: 'output-of-the-first', never: 'output-that-never-was' },
    }
  fixtures['/v1/models/:id'] = { theirs: card.model_id, never: 'never-handle-000000000000' }
  return fixtures
}

/** A delivery whose answer was refused. */
async function keptDelivery(
  { tenantDatabase: db }: TestService,
  publication: string,
): Promise<string> {
  const id = newId('integration_delivery')
  await db.write(async (tx) => {
    const { tenant_id } = await tx
      .selectFrom('publications')
      .select('tenant_id')
      .where('id', '=', publication)
      .executeTakeFirstOrThrow()
    await rows(tx, 'integration_deliveries').insert({
      ...{ tenant_id, id, publication_id: publication, external_id: id, begun: 0, due_ms: null },
      ...{ state: 'delivered', reason: null, scope: canary, author: canary, received: null },
      ...{ session_id: null, event_id: null, target: null, number: canary, missing: [canary] },
      ...{ answer_state: 'untold', answer_url: null, answer_reason: canary, answer_event: id },
      created_at: iso(0),
    })
  })
  return id
}

/** Returns the route's path with one of the two ids for each parameter. */
export function fill(path: string, fixtures: PathFixtures, which: 'theirs' | 'never'): string {
  return path.replaceAll(/:\w+/g, (_name, offset: number) => {
    const upTo = path.slice(0, offset) + /^:\w+/.exec(path.slice(offset))?.[0]
    const fixture = fixtures[upTo]
    assert.ok(fixture, `${upTo} has no fixture: say in makeFixtures what stands there`)
    return fixture[which]
  })
}

export function bodyOf(route: Route): object | undefined {
  if (!route.body) return undefined
  const body = bodies[`${route.method} ${route.path}`] ?? {}
  const why = `${route.method} ${route.path}: say in bodies what is a valid one`
  assert.ok(route.path.includes(':') ? route.body.safeParse(body).success : true, why)
  return body
}

/** True when the route changes nothing, and uses no credential of a session. */
export const isReading = ({ method, answer, changesNothing = false }: Route): boolean =>
  changesNothing || (method === 'get' && answer !== 'any')

/** True when the table of permissions opens the route to the role, whatever its credential. */
export function opens(role: Role, route: Route): boolean {
  const { reads, changes, operations } = permissions[role]
  const kinds = isReading(route) ? reads : changes
  const isNamed = route.operation !== undefined && operations.includes(route.operation)
  return isNamed || route.callers.some((caller) => kinds.includes(caller))
}

/** The same for a person with a cookie, who also reaches what is for people alone, and no answer of others. */
export function isOpenTo(role: Role, route: Route): boolean {
  if (route.answer === 'any') return false
  return route.callers.includes('user') || opens(role, route)
}
