/** Deliveries of Linear: the app's sessions on issues, and the messages of people in them. */
import { createHash } from 'node:crypto'
import type { PublicationSpec } from '@steward/protocol/integrations.ts'
import { z } from 'zod'
import { isSigned } from '../deliveries/hmac.ts'
import type { KnownIds } from '../../../ground/database/tables/integrations.ts'
import type { AppIntegration, Incoming, IncomingMessage, Notes, Refusal } from '../integration.ts'
import { learnedName, listedName, sameName } from '../deliveries/listed-names.ts'
import {
  callFor,
  findLinearActivity,
  linearNotesAfter,
  linearReason,
  mostCharacters,
  searchFor,
  judgeLinearAnswer,
} from './answers.ts'
import { lookUp } from './work.ts'
import { ignoredDelivery, parsePayload, shortenContext } from '../deliveries/payload.ts'
import { namedIn } from '../deliveries/routing.ts'

type LinearConfig = Pick<NonNullable<PublicationSpec['linear']>, 'teams' | 'authors'> & {
  members?: 'team' | 'workspace' | null
  known?: KnownIds | null
}

const freshnessMs = 60_000
const signatureForm = /^[0-9a-f]{64}$/

const name = z.string().min(1).max(256)
const text = z.string().max(1_000_000)
const person = z.object({ id: name, email: name.nullish() })
const eventForm = z.object({
  type: z.literal('AgentSessionEvent'),
  action: z.string(),
  organizationId: name,
  createdAt: z.iso.datetime({ offset: true }).nullish(),
  appUserId: name.nullish(),
  promptContext: text.nullish(),
  previousComments: z.array(z.unknown()).nullish(),
  agentSession: z.object({
    id: name,
    url: z.string().max(2_000).nullish(),
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

  numberOf: ({ headers }) => headers['linear-delivery'],

  callFor,
  lookUp,
  searchFor,
  found: findLinearActivity,
  noted: linearNotesAfter,
  verdict: judgeLinearAnswer,
  reasonOf: linearReason,
  urlOf: (_telling, { target }) => (typeof target['url'] === 'string' ? target['url'] : undefined),
  mostCharacters,
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

/** Undefined for a stranger. A person is listed by id, or by an address that is theirs since it was seen first. */
function allowedBy(
  { id, email }: Person,
  team: string,
  { authors, members, known }: LinearConfig,
): Pick<IncomingMessage, 'check' | 'learned'> | undefined {
  if (authors.includes(id)) return {}
  const person = { name: email ?? id, id }
  const names = learnedName(authors, known?.authors, person)
  const learned = names === undefined ? {} : { learned: { authors: names } }
  if (listedName(authors, known?.authors, person) !== undefined) return learned
  return !members ? undefined : { ...learned, check: { user: id, team } }
}

/** Linear shows that an app did not respond, where nothing answers the beginning of a session. */
function refusalOf({ agentSession }: AgentSessionEvent, message?: string): { refusal: Refusal } {
  const { id, creator } = agentSession
  return {
    refusal: {
      scope: id,
      author: creator ? nameOf(creator) : '',
      target: { agent_session: id },
      ...(message !== undefined && { message }),
    },
  }
}

const otherTeam = ({ teams }: LinearConfig): string =>
  `This agent works on issues of ${teams.length === 1 ? 'the team' : 'the teams'} ${teams.join(', ')} alone.`

function readEvent(event: AgentSessionEvent, config: LinearConfig): Incoming {
  const { action, agentSession, agentActivity } = event
  const { id: scope, issue, creator } = agentSession
  const isOfTeam = issue && config.teams.some((each) => sameName(each, issue.team.key))
  if (!isOfTeam) {
    const message = issue
      ? otherTeam(config)
      : 'This agent works on issues alone: delegate an issue to it, or mention it there.'
    return {
      ...ignoredDelivery('unrelated', '/agentSession/issue/team/key'),
      ...(action === 'created' && refusalOf(event, message)),
    }
  }
  const team = issue.team.key
  if (action === 'created') {
    if (!creator) return ignoredDelivery('bot', '/agentSession/creator')
    const allowed = allowedBy(creator, team, config)
    if (!allowed)
      return { ...ignoredDelivery('stranger', '/agentSession/creator'), ...refusalOf(event) }
    return { ...messageOf(event, creator, requestOf(event, creator)), ...allowed }
  }
  if (action !== 'prompted' || !agentActivity) return ignoredDelivery('unrelated', '/action')
  const { user, signal, content } = agentActivity
  const allowed = allowedBy(user, team, config)
  if (!allowed) return ignoredDelivery('stranger', '/agentActivity/user')
  if (signal === 'stop') return { kind: 'interrupt', scope, author: nameOf(user), ...allowed }
  const asked = (content.body ?? '').trim()
  if (asked === '') return ignoredDelivery('malformed', '/agentActivity/content/body')
  return { ...messageOf(event, user, asked), ...allowed }
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

function messageOf(event: AgentSessionEvent, author: Person, request: string): IncomingMessage {
  const {
    agentSession: { id, issue, url },
    promptContext,
    createdAt,
  } = event
  return {
    kind: 'message',
    scope: id,
    author: nameOf(author),
    text: request.toWellFormed(),
    named: namedIn(request.toWellFormed()),
    context: contextOf(issue, promptContext ?? issue?.description ?? null),
    target: {
      agent_session: id,
      ...(url && { url }),
      ...(createdAt && { since: createdAt }),
      ...issueTarget(event),
    },
  }
}

const contextOf = (
  issue: AgentSessionEvent['agentSession']['issue'],
  told: string | null,
): IncomingMessage['context'] => ({
  issue: issue?.identifier ?? null,
  url: issue?.url ? shortenContext(issue.url) : null,
  title: issue ? shortenContext(issue.title) : null,
  body: told && shortenContext(told),
})

const identifierForm = /^[A-Za-z][A-Za-z0-9_]*-\d+$/

/**
 * The words with which Linear links a pull request to the issue. The merge closes an issue that is delegated to the agent,
 * and none in which people only mention it.
 */
export const linearReferenceTo = ({ identifier, mention }: Notes): string | undefined =>
  identifierForm.test(String(identifier))
    ? `${mention === 1 ? 'Part of' : 'Fixes'} ${identifier}`
    : undefined

function issueTarget({ action, agentSession: { issue, comment }, appUserId }: AgentSessionEvent) {
  if (!issue?.id) return {}
  const { id, identifier } = issue
  // Only the message that begins the work moves the issue.
  return {
    issue_id: id,
    identifier,
    ...(comment && { mention: 1 }),
    ...(action === 'created' && appUserId && { issue: id, app_user: appUserId }),
  }
}
