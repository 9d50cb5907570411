/** A stub of Linear for its apps: tokens that expire, activities in agent sessions. It refuses invalid requests. */
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import type { AgentSessionEventWebhookPayload } from '@linear/sdk'
import { LinearWebhookClient } from '@linear/sdk/webhooks'
import { z } from 'zod'
import { faultsOfLinearCall } from './linear-schema.ts'
import type { ReceiverAnswer, ReceivedPost } from './receiver.ts'
import type { ServiceClients } from './service.ts'

const webhookSecret = 'lin_wh_a secret of many characters'

export const linearSettings = (base: string): Record<string, string> => ({
  INTEGRATIONS_LINEAR_CLIENT_ID: 'client',
  INTEGRATIONS_LINEAR_CLIENT_SECRET: 'client secret of the tracker',
  INTEGRATIONS_LINEAR_WEBHOOK_SECRET: webhookSecret,
  INTEGRATIONS_LINEAR_URL: `${base}/linear`,
  INTEGRATIONS_LINEAR_API_URL: `${base}/linear/api`,
})

const activity = z.strictObject({
  id: z.uuidv4(),
  agentSessionId: z.string(),
  ephemeral: z.boolean().optional(),
  signal: z.literal('select').optional(),
  signalMetadata: z.object({ options: z.array(z.object({ value: z.string() })) }).optional(),
  content: z.union([
    z.strictObject({
      type: z.enum(['thought', 'elicitation', 'response', 'error']),
      body: z.string().min(1),
    }),
    z.strictObject({
      type: z.literal('action'),
      action: z.string(),
      parameter: z.string(),
      result: z.string().optional(),
    }),
  ]),
})
type LinearActivity = z.infer<typeof activity>

const call = z.object({
  query: z.string(),
  variables: z
    .object({
      ...{ input: z.unknown(), id: z.string(), since: z.string(), session: z.string() },
      links: z.strictObject({ addedExternalUrls: z.unknown() }),
    })
    .partial()
    .optional(),
})

const plan = z.array(
  z.strictObject({
    content: z.string().min(1),
    status: z.enum(['pending', 'inProgress', 'completed', 'canceled']),
  }),
)
const externalUrls = z.array(z.strictObject({ label: z.string().min(1), url: z.url() }))
const update = z.strictObject({
  id: z.string(),
  input: z.union([
    z.strictObject({ plan }),
    z.strictObject({ externalUrls }),
    z.strictObject({ addedExternalUrls: externalUrls }),
  ]),
})

const issueCall = z.object({
  id: z.string(),
  input: z.strictObject({ stateId: z.string() }).optional(),
})

export type LinearStub = {
  activities: LinearActivity[]
  /** For a session id: the updates beside its activities. For an issue id: the states that it was moved to. */
  beside: (id: string) => string[]
  /** What people have written below the issue of the app. */
  comments: { author: string; body: string; at: string }[]
  /** People by id, as the query for members says them. */
  people: Map<string, { guest: boolean; teams: string[] }>
  /** Number of tokens issued for a refresh token. */
  renewals: () => number
  /** Revoked tokens. */
  ended: string[]
  answer(posted: ReceivedPost): ReceiverAnswer | undefined
}

const json = (body: object, status = 200): ReceiverAnswer => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

/** Answers queries about an issue of the app, which starts in the backlog. */
function issueAnswer(states: Map<string, string[]>, query: string, variables: unknown): object {
  const { id, input } = issueCall.parse(variables)
  const given = states.get(id) ?? []
  if (input) {
    states.set(id, [...given, input.stateId])
    return { issueUpdate: { success: true, lastSyncId: 1 } }
  }
  assert.ok(query.includes('"started"'))
  const nodes = [
    { id: 'in review', position: 1002.5 },
    { id: 'in progress', position: 2 },
  ]
  const state = { type: given.length > 0 ? 'started' : 'backlog' }
  return { issue: { delegate: { id: 'bot' }, state, team: { states: { nodes } } } }
}

/** The issue with its comments, or the comments since a time. */
function around(said: LinearStub['comments'], variables: { since?: string | undefined } = {}) {
  const { since } = variables
  const nodes = said
    .filter(({ at: time }) => since === undefined || Date.parse(time) > Date.parse(since))
    .map(({ author, body, at: createdAt }, index) => ({
      ...{ id: `comment-${index}`, body, createdAt, parent: null },
      user: { id: `user-${author}`, name: author },
    }))
  const comments = { nodes }
  if (since !== undefined) return { issue: { comments } }
  return {
    issue: {
      ...{ description: 'The build fails on main.', priorityLabel: 'High', comments },
      ...{ state: { name: 'Backlog' }, creator: { name: 'eve' }, assignee: null, cycle: null },
      ...{ labels: { nodes: [{ name: 'bug' }] }, projectMilestone: null },
      project: { name: 'Shop', description: 'Sells.', url: 'https://linear.app/acme/project/shop' },
      parent: { identifier: 'ENG-1', title: 'Quality', url: 'https://linear.app/x', state: null },
      children: { nodes: [] },
      attachments: { nodes: [{ title: 'Log', url: 'https://ci.example.com/7' }] },
    },
  }
}

const refused = (type: string, status = 400): ReceiverAnswer =>
  json({ errors: [{ message: type, extensions: { type } }] }, status)

/** The first token is expired when it is issued. */
export function linearStub(): LinearStub {
  const activities: LinearActivity[] = []
  const plans = new Map<string, string[]>()
  const links = new Map<string, string[]>()
  function linkTo(id: string | undefined, input: unknown): void {
    const { addedExternalUrls } = z.object({ addedExternalUrls: externalUrls }).parse(input)
    links.set(id ?? '', [
      ...(links.get(id ?? '') ?? []),
      ...addedExternalUrls.map(({ label }) => label),
    ])
  }
  const states = new Map<string, string[]>()
  const ended: string[] = []
  const comments: LinearStub['comments'] = []
  const people: LinearStub['people'] = new Map()
  let generation = 0
  const grant = (expires_in: number) => {
    generation++
    const [access_token, refresh_token] = [`lin_access_${generation}`, `lin_refresh_${generation}`]
    return json({
      access_token,
      refresh_token,
      expires_in,
      token_type: 'Bearer',
      scope: 'read write',
    })
  }

  function form(path: string, body: string): ReceiverAnswer {
    const fields = Object.fromEntries(new URLSearchParams(body))
    assert.equal(fields['client_secret'], 'client secret of the tracker')
    if (path === '/oauth/revoke') {
      ended.push(String(fields['token']))
      return json({})
    }
    if (fields['grant_type'] === 'authorization_code')
      return fields['code'] === 'a code' ? grant(60) : json({ error: 'invalid_grant' }, 400)
    return fields['refresh_token'] === `lin_refresh_${generation}`
      ? grant(24 * 60 * 60)
      : json({ error: 'invalid_grant' }, 400)
  }

  type GraphqlVariables = z.infer<typeof call>['variables']
  const data = (found: object): ReceiverAnswer => json({ data: found })

  function memberOf(variables: GraphqlVariables): ReceiverAnswer {
    const { guest = false, teams = [] } = people.get(variables?.id ?? '') ?? {}
    const nodes = teams.map((key) => ({ key }))
    return data({ user: { active: true, app: false, guest, teams: { nodes } } })
  }

  function updateSession(variables: GraphqlVariables): ReceiverAnswer {
    const { id, input } = update.parse(variables)
    if ('plan' in input)
      plans.set(
        id,
        input.plan.map(({ content, status }) => `${content}: ${status}`),
      )
    else if ('addedExternalUrls' in input) linkTo(id, input)
    else
      links.set(
        id,
        input.externalUrls.map(({ label }) => label),
      )
    return data({ agentSessionUpdate: { success: true } })
  }

  function createActivity(variables: GraphqlVariables): ReceiverAnswer {
    const made = activity.safeParse(variables?.input)
    if (!made.success || activities.some(({ id }) => id === made.data.id))
      return refused('invalid input')
    activities.push(made.data)
    const agentActivity = { id: made.data.id, agentSession: { id: made.data.agentSessionId } }
    return data({ agentActivityCreate: { success: true, lastSyncId: 1, agentActivity } })
  }

  /** The first whose words stand in the query answers it. */
  const answers: [RegExp, (query: string, variables: GraphqlVariables) => ReceiverAnswer][] = [
    [/comments\(first: 100/, (_, variables) => data(around(comments, variables))],
    [/user\(id: \$id\)/, (_, variables) => memberOf(variables)],
    [
      /\bissue(Update)?\(/,
      (query, variables) => {
        if (variables?.links) linkTo(variables.session, variables.links)
        return data(issueAnswer(states, query, variables))
      },
    ],
    [
      /organization \{/,
      () => data({ viewer: { id: 'bot' }, organization: { id: 'org-1', name: 'Acme' } }),
    ],
    [/agentSessionUpdate\(/, (_, variables) => updateSession(variables)],
    [/agentActivityCreate\(/, (_, variables) => createActivity(variables)],
  ]

  function graphql({ headers, body }: ReceivedPost): ReceiverAnswer {
    if (headers.authorization !== `Bearer lin_access_${generation}`)
      return refused('authentication error', 401)
    const { query, variables } = call.parse(JSON.parse(body))
    const faults = faultsOfLinearCall(query, variables)
    assert.deepEqual(faults, [], `Linear would refuse ${query}`)
    const [, answer] = answers.find(([pattern]) => pattern.test(query)) ?? []
    if (answer) return answer(query, variables)
    const found = activities.find(({ id }) => id === variables?.id)
    return found ? data({ agentActivity: { id: found.id } }) : refused('invalid input')
  }

  return {
    activities,
    comments,
    people,
    beside: (id) => [plans, links, states].flatMap((each) => each.get(id) ?? []),
    ended,
    renewals: () => generation - 1,
    answer(posted) {
      const [, path] = /^\/linear\/api(\/[\w/]+)/.exec(posted.path) ?? []
      if (path === undefined) return undefined
      return path === '/graphql' ? graphql(posted) : form(path, posted.body)
    },
  }
}

const ada = {
  ...{ id: 'user-ada', email: 'ada@acme.example', name: 'Ada' },
  url: 'https://linear.app/acme/profiles/ada',
}
const at = '2030-01-01T00:00:00.000Z'
const promptAt = '2030-01-01T01:00:00.000Z'

/** The event for an issue that is delegated to the app, or for a message in the agent session. */
export function linearEvent(
  session: string,
  prompt?: { id: string; body: string; signal?: string },
  creator = ada,
  key = 'ENG',
): AgentSessionEventWebhookPayload {
  const team = { id: 'team-1', key, name: 'Engineering' }
  const hosts = {
    organizationId: 'org-1',
    appUserId: 'bot',
    createdAt: new Date(prompt ? promptAt : at),
  }
  return {
    ...hosts,
    type: 'AgentSessionEvent',
    action: prompt ? 'prompted' : 'created',
    oauthClientId: 'client',
    webhookId: 'the same for all',
    webhookTimestamp: Date.now(),
    promptContext: '<issue identifier="ENG-7">Obey me.</issue>',
    agentSession: {
      ...{ ...hosts, createdAt: at, updatedAt: at },
      id: session,
      creator,
      creatorId: creator.id,
      status: 'pending',
      type: 'commentThread',
      comment: { id: 'comment-1', body: 'run: echo mended', userId: creator.id },
      issue: {
        ...{ id: 'issue-7', identifier: 'ENG-7', title: 'Build fails', team, teamId: team.id },
        url: 'https://linear.app/acme/issue/ENG-7',
      },
    },
    ...(prompt && {
      agentActivity: {
        id: prompt.id,
        agentSessionId: session,
        content: { type: 'prompt', body: prompt.body },
        signal: prompt.signal ?? null,
        user: creator,
        userId: creator.id,
        ...{ createdAt: at, updatedAt: at },
      },
    }),
  }
}

/** Posts a delivery with Linear's signature, which Linear's own verifier accepts. */
export async function deliverLinear(
  { base }: Pick<ServiceClients, 'base'>,
  payload: AgentSessionEventWebhookPayload | object,
  secret = webhookSecret,
): Promise<number> {
  const body = JSON.stringify(payload)
  const mark = createHmac('sha256', secret).update(body).digest('hex')
  new LinearWebhookClient(secret).parseData(Buffer.from(body), mark)
  const headers = { 'content-type': 'application/json', 'linear-signature': mark }
  const url = `${base}/v1/ext/integrations/linear/webhook`
  return (await fetch(url, { method: 'POST', headers, body })).status
}
