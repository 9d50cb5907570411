/** Tellings on Slack: messages in the thread, one of which grows while a turn runs, and buttons for questions. */
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
import { parsePayload, shortenedAnswer } from '../deliveries/payload.ts'
import { questionNote } from '../answers/questions.ts'
import { answerVerdict, refusalReason } from '../answers/verdict.ts'

/** The most characters of a message. */
export const mostCharacters = 11_500
const mostInput = 2_500

/** Attack: a mention in an agent's text would call people, or a whole channel. */
const quiet = (text: string): string =>
  text.replaceAll(/<(?=[!@#])/g, '<\u200b').replaceAll(/@(?=channel|here|everyone)/gi, '@\u200b')

/** The longest beginning of the text that has at most `most` characters after `write`, which may lengthen the text. */
function fitting(text: string, most: number, write: (text: string) => string): string {
  let length = most
  let written = write(shortenedAnswer(text, length))
  while (written.length > most) {
    length = Math.floor(length * 0.8)
    written = write(shortenedAnswer(text, length))
  }
  return written
}

/** A text in a block, in which Slack requires three characters as entities. */
const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

export const quietPlain = (text: string): string => quiet(escaped(text))

const headers = { 'content-type': 'application/json; charset=utf-8' }

/** Attack: Slack would fetch addresses in an agent's text, and an address may carry what the agent knows. */
const nothingUnfurled = { unfurl_links: false, unfurl_media: false }

const posting = (path: string, body: object): ProviderCall => ({
  method: 'POST',
  path,
  headers,
  body: JSON.stringify(body),
})

const button = (action_id: 'allow' | 'deny', value: string) => ({
  type: 'button',
  action_id,
  value,
  style: action_id === 'allow' ? 'primary' : 'danger',
  text: { type: 'plain_text', text: action_id === 'allow' ? 'Allow' : 'Deny' },
})

/** The message that grows by the thoughts of the agent. The next telling of another kind closes this message. */
function streamOf({ notes }: ExternalThread): string | undefined {
  return typeof notes['stream'] === 'string' ? notes['stream'] : undefined
}

type SlackThread = { channel: string; thread_ts: string }

export function callFor(telling: Telling, thread: ExternalThread): ProviderCall | null {
  const { channel, thread: thread_ts } = thread.target
  if (typeof channel !== 'string' || typeof thread_ts !== 'string') return null
  const slackThread = { channel, thread_ts }
  if (isShown(telling, thread)) return null
  switch (telling.kind) {
    case 'confirmation':
    case 'plan':
    case 'links':
    case 'files':
    case 'remarks':
    case 'notice':
      return null
    case 'accepted':
    case 'begun':
    case 'action':
    case 'ended':
      return callOfWork(telling, thread, slackThread)
    case 'thought':
      return {
        ...callOfThought(fitting(telling.text, mostCharacters, quiet), thread, slackThread),
        isOptional: true,
      }
    default:
      return callWithText(telling, thread, slackThread)
  }
}

/** Shows in the thread whether the agent works. */
function callOfWork(
  telling: Extract<Telling, { kind: 'accepted' | 'begun' | 'action' | 'ended' }>,
  thread: ExternalThread,
  slackThread: SlackThread,
): ProviderCall | null {
  const ts = streamOf(thread)
  const { channel } = slackThread
  switch (telling.kind) {
    case 'accepted':
      return ts === undefined ? callOfStatus(slackThread, working) : closing({ channel, ts })
    case 'begun':
      return isShownAsWorking(thread) ? null : callOfStatus(slackThread, working)
    case 'action':
      // Slack takes a status away after two minutes, and with each message.
      return telling.result === null && isStatusOld(thread)
        ? callOfStatus(slackThread, working)
        : null
    case 'ended':
      return ts === undefined
        ? callOfStatus(slackThread, '')
        : closing({ channel, ts }, { isOptional: true })
  }
}

function callWithText(
  telling: TextTelling,
  thread: ExternalThread,
  slackThread: SlackThread,
): ProviderCall {
  const ts = streamOf(thread)
  const { channel } = slackThread
  const metadata = { event_type: 'steward', event_payload: { id: telling.id } }
  const { text, markdown_text, blocks } = contentOf(telling, thread)
  return ts === undefined || telling.kind === 'more'
    ? posting('/chat.postMessage', {
        ...slackThread,
        ...nothingUnfurled,
        metadata,
        text,
        markdown_text,
        blocks,
      })
    : closing({ channel, ts, metadata, blocks, ...behind(markdown_text) })
}

const working = 'is working on it…'

/** True while the status that the service has set is shown, and while a message grows. */
const isShownAsWorking = ({ notes }: ExternalThread): boolean =>
  typeof notes['status'] === 'number' || typeof notes['stream'] === 'string'

/** The time after which a status is set again. */
const statusMs = 90_000

const isStatusOld = ({ notes, nowMs = 0 }: ExternalThread): boolean =>
  typeof notes['status'] === 'number' && nowMs - notes['status'] > statusMs

/**
 * True for a question whose message with its buttons is in the thread. After people answer one of several questions, a
 * second message for each other question would make the buttons of the first message void.
 */
const isShown = (telling: Telling, { notes }: ExternalThread): boolean =>
  telling.kind === 'question' && typeof notes[questionNote(telling.call)] === 'string'

const behind = (text: string | undefined) => text !== undefined && { markdown_text: `\n\n${text}` }

/** Closes the growing message. When it was deleted, or closed by Slack, the telling is posted as a new message. */
const closing = (body: object, more: { isOptional?: true } = {}): ProviderCall => ({
  ...posting('/chat.stopStream', body),
  continues: true,
  ...more,
})

/** Sets the status of the thread; an empty one takes it away. */
const callOfStatus = ({ channel, thread_ts }: SlackThread, status: string): ProviderCall => ({
  ...posting('/assistant.threads.setStatus', { channel_id: channel, thread_ts, status }),
  isOptional: true,
})

function callOfThought(
  text: string,
  thread: ExternalThread,
  slackThread: SlackThread,
): ProviderCall {
  const ts = streamOf(thread)
  const { user: recipient_user_id, team: recipient_team_id } = thread.target
  const { channel } = slackThread
  return ts === undefined
    ? posting('/chat.startStream', {
        ...slackThread,
        recipient_user_id,
        recipient_team_id,
        markdown_text: text,
      })
    : {
        ...posting('/chat.appendStream', { channel, ts, ...behind(text) }),
        continues: true,
      }
}

type TextTelling = Extract<
  Telling,
  { kind: 'reply' | 'more' | 'error' | 'question' | 'stopped' | 'refused' }
>

const withLink = (text: string, { link }: ExternalThread): string =>
  link === undefined ? text : `${text}\n\n[Session](${link})`

/** `text`: the text of notifications, for a message that is not a stream. */
function contentOf(
  telling: TextTelling,
  thread: ExternalThread,
): { text?: string; markdown_text?: string; blocks?: object[] } {
  if (telling.kind === 'reply')
    return { markdown_text: withLink(fitting(telling.text, mostCharacters, quiet), thread) }
  if (telling.kind === 'more')
    return { markdown_text: fitting(telling.text, mostCharacters, quiet) }
  if (telling.kind === 'stopped') return { markdown_text: withLink('Stopped.', thread) }
  if (telling.kind === 'refused')
    return { markdown_text: fitting(telling.message, mostInput, quiet) }
  if (telling.kind === 'error') {
    const message = fitting(telling.message, mostInput, quiet)
    return { markdown_text: withLink(`**This did not work.** ${message}`, thread) }
  }
  const input = fitting(telling.input, mostInput, (text) =>
    escaped(text).replaceAll('```', '`\u200b``'),
  )
  const isAnswered = telling.needs === 'answer'
  const how = isAnswered ? '\nMention it with the answer.' : ''
  const text = `The agent wants to call *${escaped(telling.name)}*:\n\`\`\`${input}\`\`\`${how}`
  const section = { type: 'section', text: { type: 'mrkdwn', text } }
  const elements = [button('allow', telling.call), button('deny', telling.call)]
  return { text, blocks: isAnswered ? [section] : [section, { type: 'actions', elements }] }
}

/** Tellings whose call sets a status, which may be set twice. */
const ofStatus: readonly Telling['kind'][] = ['accepted', 'begun', 'action', 'ended']

export function searchFor(telling: Telling, { target }: ExternalThread): ProviderCall | null {
  if (ofStatus.includes(telling.kind)) return null
  const query = new URLSearchParams({
    channel: String(target['channel']),
    ts: String(target['thread']),
    // Slack lists the oldest messages first, so the search begins at the thread's newest request.
    oldest: String(target['since'] ?? target['thread']),
    include_all_metadata: 'true',
    limit: '200',
  })
  return { method: 'GET', path: `/conversations.replies?${String(query)}`, headers, body: null }
}

const timestamp = z.string().min(1).max(256)
const listed = z.object({
  messages: z.array(
    z.object({
      ts: timestamp.optional(),
      metadata: z.object({ event_payload: z.object({ id: z.unknown() }) }).optional(),
    }),
  ),
})

/**
 * Slack does not show which texts of a stream have arrived. So a thought counts as told: a missing text is better than
 * a repeated one.
 */
export function findSlackMessage(
  telling: Telling,
  thread: ExternalThread,
  body: string,
): SearchResult {
  const { notes } = thread
  const { id, kind } = telling
  const { data } = listed.safeParse(parsePayload(Buffer.from(body)))
  if (!data) return { kind: 'unreadable' }
  if (kind === 'thought') return { kind: 'found', notes }
  // Slack lists the oldest messages first. Our message was posted before anybody could copy its metadata.
  const ours = data.messages.find(({ metadata }) => metadata?.event_payload.id === id)
  if (!ours) return { kind: 'absent' }
  const url = urlOfMessage(thread, ours.ts)
  const found = notesOf(telling, ours.ts)
  return { kind: 'found', notes: found, ...(url !== undefined && { url }) }
}

const madeForm = z.object({ ts: timestamp })

/** Where people read a message of the thread. */
function urlOfMessage(
  { target }: Pick<ExternalThread, 'target'>,
  ts: string | undefined,
): string | undefined {
  const { team, channel } = target
  return ts === undefined || typeof team !== 'string' || typeof channel !== 'string'
    ? undefined
    : `https://app.slack.com/client/${team}/${channel}/p${ts.replace('.', '')}`
}

/** Whoever may read the channel can open the address. */
export function slackReferenceTo(target: Notes): string | undefined {
  const { thread } = target
  const url = urlOfMessage({ target }, typeof thread === 'string' ? thread : undefined)
  return url && `For [a thread in Slack](${url})`
}

export function slackUrlOf(_: Telling, thread: ExternalThread, body: string): string | undefined {
  const made = madeForm.safeParse(parsePayload(Buffer.from(body))).data?.ts
  return urlOfMessage(thread, streamOf(thread) ?? made)
}

export function slackNotesAfter(telling: Telling, thread: ExternalThread, body: string): Notes {
  const status = thread.nowMs ?? 0
  if (telling.kind === 'begun' || telling.kind === 'action') return { ...thread.notes, status }
  if (telling.kind === 'accepted') return streamOf(thread) === undefined ? { status } : {}
  if (telling.kind === 'ended') return {}
  const stream = streamOf(thread)
  if (telling.kind === 'thought' && stream !== undefined) return thread.notes
  const made = madeForm.safeParse(parsePayload(Buffer.from(body))).data?.ts
  return notesOf(telling, stream ?? made)
}

/** `ts`: the id of the message that was posted or has grown. */
function notesOf(telling: Telling, ts: string | undefined): Notes {
  if (ts === undefined) return {}
  if (telling.kind === 'thought') return { stream: ts }
  return telling.kind === 'question' ? { [questionNote(telling.call)]: ts } : {}
}

const refusedForm = z.object({ error: z.string(), needed: z.string().nullish() })

/** Why Slack has refused, in its word for it. */
export function slackReason(outcome: AnswerOutcome): string {
  const body = 'body' in outcome ? parsePayload(Buffer.from(outcome.body)) : undefined
  const { data } = refusedForm.safeParse(body)
  if (!data) return refusalReason(outcome)
  return data.needed ? `${data.error}: it needs the scope ${data.needed}` : data.error
}

const answered = z.discriminatedUnion('ok', [
  z.object({ ok: z.literal(true) }),
  z.object({ ok: z.literal(false), error: z.string() }),
])
const ofCredential =
  /^(invalid_auth|not_authed|account_inactive|token_(revoked|expired)|missing_scope)$/
const passing =
  /^(internal_error|fatal_error|service_unavailable|request_timeout|team_added_to_org)$/

/** Slack answers most refusals with status 200. */
export function judgeSlackAnswer(outcome: AnswerOutcome, attempt: Attempt): AnswerVerdict {
  if (!('status' in outcome) || outcome.status !== 200) return answerVerdict(outcome, attempt)
  const { data } = answered.safeParse(parsePayload(Buffer.from(outcome.body)))
  // The answer is no JSON of Slack: some proxy on the way answered.
  if (!data) return answerVerdict({ ...outcome, status: 502 }, attempt)
  if (data.ok) return { kind: 'delivered' }
  if (ofCredential.test(data.error)) return { kind: 'needs_reauth' }
  if (data.error === 'ratelimited') return answerVerdict({ ...outcome, status: 429 }, attempt)
  return answerVerdict({ ...outcome, status: passing.test(data.error) ? 503 : 400 }, attempt)
}
