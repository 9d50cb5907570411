/** Tellings on Linear: each telling is an activity in the app's agent session. */
import { createHash } from 'node:crypto'
import { z } from 'zod'
import type {
  AnswerOutcome,
  AnswerVerdict,
  Attempt,
  ExternalThread,
  Notes,
  ProviderCall,
  SearchResult,
  Telling,
} from '../integration.ts'
import type { PullRequestLink } from '../github/links.ts'
import { graphqlCall } from './query.ts'
import { buildMoveCall, moveAndLink } from './work.ts'
import { parsePayload, shortenedAnswer } from '../deliveries/payload.ts'
import { codeOf } from '../answers/questions.ts'
import { answerVerdict, refusalReason } from '../answers/verdict.ts'

/** The most characters of an activity. */
export const mostCharacters = 20_000

/** Attack: the address of a profile in an agent's text is a mention, and would call a person. */
const quiet = (text: string): string =>
  shortenedAnswer(text, mostCharacters).replaceAll(
    /(linear\.app\/[^\s/]+\/profiles)\//gi,
    '$1\u200b/',
  )

/** Linear sends the value of a pressed button as a text, so the value names its question. */
const optionsOf = (call: string) => [
  { label: 'Allow', value: `allow ${codeOf(call)}` },
  { label: 'Deny', value: `deny ${codeOf(call)}` },
]

type Activity = {
  content: { type: string } & Record<string, string>
  ephemeral?: true
  signal?: 'select'
  signalMetadata?: object
}

function activityOf(
  telling: Exclude<
    Telling,
    { kind: 'confirmation' | 'plan' | 'links' | 'files' | 'begun' | 'remarks' | 'notice' }
  >,
): Activity {
  switch (telling.kind) {
    case 'accepted':
      return { content: { type: 'thought', body: 'Working on it.' }, ephemeral: true }
    case 'thought':
      return { content: { type: 'thought', body: quiet(telling.text) } }
    case 'action': {
      const { name, input, result } = telling
      const content = { type: 'action', action: name, parameter: quiet(input) }
      return result === null
        ? { content, ephemeral: true }
        : { content: { ...content, result: quiet(result) } }
    }
    case 'question': {
      const body = `The agent wants to call ${telling.name}: ${quiet(telling.input)}`
      return telling.needs === 'confirmation'
        ? {
            content: { type: 'elicitation', body },
            signal: 'select',
            signalMetadata: { options: optionsOf(telling.call) },
          }
        : { content: { type: 'elicitation', body: `${body}\n\nWrite the answer here.` } }
    }
    case 'reply':
    case 'more':
      return { content: { type: 'response', body: quiet(telling.text) } }
    case 'stopped':
      return { content: { type: 'response', body: 'Stopped.' } }
    case 'ended':
      return { content: { type: 'response', body: 'Done, without words.' } }
    case 'error':
    case 'refused':
      return { content: { type: 'error', body: quiet(telling.message) } }
  }
}

/**
 * The id of the activity, the same in each attempt. Linear accepts only random UUIDs, so the id has that form. What is
 * told before a thread has its session has the same id after that.
 */
function activityIdOf({ id, kind }: Telling, { session, scope }: ExternalThread): string {
  const whole = isBeforeSession.includes(kind) ? `${scope}/${kind}/${id}` : `${session}/${id}`
  const bytes = createHash('sha256').update(whole).digest().subarray(0, 16)
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6)
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

const isBeforeSession: readonly Telling['kind'][] = ['accepted', 'refused', 'stopped']

const creating =
  'mutation($input: AgentActivityCreateInput!) { agentActivityCreate(input: $input) { success } }'

const updating =
  'mutation($id: String!, $input: AgentSessionUpdateInput!) { agentSessionUpdate(id: $id, input: $input) { success } }'

/** The most links of a session. Newer links replace older links. */
const mostLinks = 20

const kept = z.array(z.object({ label: z.string(), url: z.string() })).catch([])

const linksIn = ({ links }: Notes): PullRequestLink[] =>
  kept.parse(parsePayload(Buffer.from(String(links ?? '[]'))))

/** All links of the session, with earlier ones: each call sends all links to Linear, so a repeated call adds none. */
function linksAfter(
  telling: Telling & { kind: 'links' },
  { notes }: ExternalThread,
): PullRequestLink[] {
  const links = [...linksIn(notes), ...telling.links].map((each) => [each.url, each] as const)
  return [...new Map(links).values()].slice(-mostLinks)
}

/** The session in the console, which stands before the links of the agent. */
const ownLink = ({ link }: ExternalThread): PullRequestLink[] =>
  link === undefined ? [] : [{ label: 'Session', url: link }]

/** The agent begins: its issue moves, and the session of Linear gets a link to that of the console, once. */
function callOfBeginning(thread: ExternalThread, id: string): ProviderCall | null {
  const [own] = ownLink(thread)
  const move = buildMoveCall(thread)
  if (!own || thread.notes['is_linked'] === 1) return move
  const link = graphqlCall(updating, { id, input: { addedExternalUrls: [own] } })
  return move
    ? { ...moveAndLink(thread, { id, own }), isOptional: true }
    : { ...link, isOptional: true }
}

export function callFor(telling: Telling, thread: ExternalThread): ProviderCall | null {
  const { agent_session: agentSessionId } = thread.target
  if (typeof agentSessionId !== 'string' || telling.kind === 'confirmation') return null
  if (telling.kind === 'files' || telling.kind === 'remarks' || telling.kind === 'notice')
    return null
  if (telling.kind === 'begun') return callOfBeginning(thread, agentSessionId)
  if (telling.kind === 'plan') {
    const plan = telling.steps.map(({ content, isDone }) => ({
      content: quiet(content),
      status: isDone ? 'completed' : 'pending',
    }))
    return { ...graphqlCall(updating, { id: agentSessionId, input: { plan } }), isOptional: true }
  }
  if (telling.kind === 'links') {
    const input = { externalUrls: [...ownLink(thread), ...linksAfter(telling, thread)] }
    return { ...graphqlCall(updating, { id: agentSessionId, input }), isOptional: true }
  }
  const input = { id: activityIdOf(telling, thread), agentSessionId, ...activityOf(telling) }
  return graphqlCall(creating, { input })
}

const settable: readonly Telling['kind'][] = ['plan', 'links', 'begun']

/** Returns null for values that may be set twice. */
export const searchFor = (telling: Telling, thread: ExternalThread): ProviderCall | null =>
  settable.includes(telling.kind)
    ? null
    : graphqlCall('query($id: String!) { agentActivity(id: $id) { id } }', {
        id: activityIdOf(telling, thread),
      })

const foundForm = z.object({ data: z.object({ agentActivity: z.object({ id: z.string() }) }) })

/** For an unknown activity Linear answers with an error. An existing activity would be refused on a second attempt. */
export function findLinearActivity(
  telling: Telling,
  thread: ExternalThread,
  body: string,
): SearchResult {
  const { data } = foundForm.safeParse(parsePayload(Buffer.from(body)))
  const isThere = data?.data.agentActivity.id === activityIdOf(telling, thread)
  return isThere ? { kind: 'found', notes: thread.notes } : { kind: 'absent' }
}

export function linearNotesAfter(telling: Telling, thread: ExternalThread): Notes {
  const { notes, link } = thread
  if (telling.kind === 'links')
    return { ...notes, links: JSON.stringify(linksAfter(telling, thread)) }
  return telling.kind === 'begun' && link !== undefined ? { ...notes, is_linked: 1 } : notes
}

const refusedForm = z.object({
  errors: z.tuple([z.object({ extensions: z.looseObject({}).optional() })], z.unknown()),
})

const messageForm = z.object({
  errors: z.tuple(
    [
      z.object({
        message: z.string(),
        extensions: z.object({ userPresentableMessage: z.string().nullish() }).nullish(),
      }),
    ],
    z.unknown(),
  ),
})

/** Why Linear has refused, in its own words. */
export function linearReason(outcome: AnswerOutcome): string {
  const body = 'body' in outcome ? parsePayload(Buffer.from(outcome.body)) : undefined
  const { data } = messageForm.safeParse(body)
  if (!data) return refusalReason(outcome)
  const [{ message, extensions }] = data.errors
  return (extensions?.userPresentableMessage ?? message).slice(0, 300)
}

const statuses: readonly [RegExp, number][] = [
  [/^authentication/, 401],
  [/^ratelimited$/, 429],
  [/^(internal|network) error$|^lock timeout$/, 503],
]

/** Linear reports refusals in the body, under various statuses. */
export function judgeLinearAnswer(outcome: AnswerOutcome, attempt: Attempt): AnswerVerdict {
  const body = 'body' in outcome ? outcome.body : ''
  const { data } = refusedForm.safeParse(parsePayload(Buffer.from(body)))
  if (!data || !('status' in outcome)) return answerVerdict(outcome, attempt)
  const { type = '', code = '' } = data.errors[0].extensions ?? {}
  const names = [type, code].map((each) => String(each).toLowerCase().replaceAll('_', ' '))
  const [, status = 400] =
    statuses.find(([pattern]) => names.some((each) => pattern.test(each))) ?? []
  return answerVerdict({ ...outcome, status }, attempt)
}
