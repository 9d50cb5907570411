/** Deliveries of Linear: the app's sessions on issues, and the messages of people in them. */
import { createHash } from 'node:crypto'
import type { PublicationSpec } from '@steward/protocol/integrations.ts'
import { z } from 'zod'
import { isSigned } from '../deliveries/hmac.ts'
import type { AppIntegration, Incoming } from '../integration.ts'
import {
  callFor,
  findLinearActivity,
  linearNotesAfter,
  searchFor,
  judgeLinearAnswer,
} from './answers.ts'
import { lookUp } from './work.ts'
import { ignoredDelivery, parsePayload, shortenContext } from '../deliveries/payload.ts'

type LinearConfig = NonNullable<PublicationSpec['linear']>

const freshnessMs = 60_000
const signatureForm = /^[0-9a-f]{64}$/

const name = z.string().min(1).max(256)
const text = z.string().max(1_000_000)
const person = z.object({ id: name, email: name.nullish() })
const eventForm = z.object({
  type: z.literal('AgentSessionEvent'),
  action: z.string(),
  organizationId: name,
  appUserId: name.nullish(),
  promptContext: text.nullish(),
  previousComments: z.array(z.unknown()).nullish(),
  agentSession: z.object({
    id: name,
    creator: person.nullish(),
    comment: z.object({ body: text, userId: name.nullish() }).nullish(),
    issue: z
      .object({
        id: name.nullish(),
        identifier: name,
        title: text,
        description: text.nullish(),
        url: text.nullish(),
        team: z.object({ key: name }),
      })
      .nullish(),
  }),
  agentActivity: z
    .object({
      id: name,
      user: person,
      signal: z.string().nullish(),
      content: z.object({ body: text.nullish() }),
    })
    .nullish(),
})
type AgentSessionEvent = z.infer<typeof eventForm>
type Person = z.infer<typeof person>

const sentForm = z.object({ webhookTimestamp: z.number() })
const ofWorkspace = z.object({ organizationId: name })
const revokedForm = z.object({
  type: z.literal('OAuthApp'),
  action: z.literal('revoked'),
  createdAt: z.iso.datetime({ offset: true }),
})

export const linearIntegration: AppIntegration<LinearConfig> = {
  /** The signed body contains the time. The header that repeats the time proves nothing. */
  check({ headers, body }, secrets, nowMs) {
    const hex = headers['linear-signature'] ?? ''
    if (!signatureForm.test(hex)) return { kind: 'refused', reason: 'unsigned' }
    if (!isSigned(hex, secrets, [body])) return { kind: 'refused', reason: 'forged' }
    const sentMs = sentForm.safeParse(parsePayload(body)).data?.webhookTimestamp ?? -Infinity
    const isFresh = Math.abs(nowMs - sentMs) <= freshnessMs
    return isFresh ? { kind: 'genuine', id: idOf(body) } : { kind: 'refused', reason: 'stale' }
  },

  read(body) {
    const payload = parsePayload(body)
    const { data: event } = eventForm.safeParse(payload)
    if (event) return (config) => readEvent(event, config)
    const isOther = ofWorkspace.safeParse(payload).success
    return () =>
      isOther
        ? ignoredDelivery('unrelated', '/type')
        : ignoredDelivery('malformed', '/agentSession')
  },

  workspaceOf: (body) => ofWorkspace.safeParse(parsePayload(body)).data?.organizationId,
  challengeOf: () => undefined,
  changeOf(body) {
    const { data } = revokedForm.safeParse(parsePayload(body))
    return data && { kind: 'revoked', atMs: Date.parse(data.createdAt) }
  },

  callFor,
  lookUp,
  searchFor,
  found: findLinearActivity,
  noted: linearNotesAfter,
  verdict: judgeLinearAnswer,
}

/**
 * The body of a repeated delivery has another time, so a hash of the body would differ. `webhookId` identifies the
 * webhook, not the delivery.
 */
function idOf(body: Uint8Array): string {
  const { data } = eventForm.safeParse(parsePayload(body))
  if (data?.agentActivity) return `activity/${data.agentActivity.id}`
  if (data) return `session/${data.agentSession.id}/${data.action}`
  return createHash('sha256').update(body).digest('hex')
}

const nameOf = ({ id, email }: Person): string => email ?? id

const isAllowed = ({ id, email }: Person, { authors }: LinearConfig): boolean =>
  authors.includes(id) || (typeof email === 'string' && authors.includes(email))

function readEvent(event: AgentSessionEvent, config: LinearConfig): Incoming {
  const { action, agentSession, agentActivity } = event
  const { id: scope, issue, creator } = agentSession
  if (!issue || !config.teams.includes(issue.team.key))
    return ignoredDelivery('unrelated', '/agentSession/issue/team/key')
  if (action === 'created') {
    if (!creator) return ignoredDelivery('bot', '/agentSession/creator')
    if (!isAllowed(creator, config)) return ignoredDelivery('stranger', '/agentSession/creator')
    return messageOf(event, creator, requestOf(event, creator))
  }
  if (action !== 'prompted' || !agentActivity) return ignoredDelivery('unrelated', '/action')
  const { user, signal, content } = agentActivity
  if (!isAllowed(user, config)) return ignoredDelivery('stranger', '/agentActivity/user')
  if (signal === 'stop') return { kind: 'interrupt', scope, author: nameOf(user) }
  const asked = (content.body ?? '').trim()
  if (asked === '') return ignoredDelivery('malformed', '/agentActivity/content/body')
  return messageOf(event, user, asked)
}

/**
 * A thread that others began holds the words of others. Then these words are only context, and the request is a fixed
 * sentence.
 */
function requestOf({ agentSession, previousComments }: AgentSessionEvent, creator: Person): string {
  const { comment, issue } = agentSession
  const isOwn = comment?.userId === creator.id && (previousComments ?? []).length === 0
  const written = isOwn ? comment.body.trim() : ''
  if (written !== '') return written
  return comment
    ? 'You are mentioned in a thread of this issue: answer the last comment of the thread.'
    : `${issue?.identifier ?? 'This issue'} is delegated to you: work on it.`
}

function messageOf(
  { action, agentSession: { id, issue }, appUserId, promptContext }: AgentSessionEvent,
  author: Person,
  request: string,
): Incoming {
  const told = promptContext ?? issue?.description ?? null
  return {
    kind: 'message',
    scope: id,
    author: nameOf(author),
    text: request.toWellFormed(),
    context: {
      issue: issue?.identifier ?? null,
      url: issue?.url ? shortenContext(issue.url) : null,
      title: issue ? shortenContext(issue.title) : null,
      body: told && shortenContext(told),
    },
    target: {
      agent_session: id,
      // Only the message that begins the work names the issue.
      ...(action === 'created' &&
        issue?.id &&
        appUserId && { issue: issue.id, app_user: appUserId }),
    },
  }
}
