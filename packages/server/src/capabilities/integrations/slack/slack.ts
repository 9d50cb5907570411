/** Deliveries of Slack: mentions, direct messages, and pressed buttons of questions. */
import { createHash } from 'node:crypto'
import type { PublicationSpec } from '@steward/protocol/integrations.ts'
import { z } from 'zod'
import { isSigned } from '../deliveries/hmac.ts'
import type {
  AppIntegration,
  DeliveryCheck,
  Incoming,
  IncomingMessage,
  RawDelivery,
  Refusal,
} from '../integration.ts'
import { sameName } from '../deliveries/listed-names.ts'
import {
  ignoredDelivery,
  parseJsonOrForm,
  parsePayload,
  shortenContext,
} from '../deliveries/payload.ts'
import { namedIn } from '../deliveries/routing.ts'
import type { SlackEvent } from './payload.ts'
import { buttonForm, eventForm, incomingFiles, quotedMessages } from './payload.ts'
import {
  callFor,
  findSlackMessage,
  slackNotesAfter,
  searchFor,
  judgeSlackAnswer,
  mostCharacters,
  slackReason,
  slackUrlOf,
} from './answers.ts'

/** `follow_ups`: whether messages without a mention count in threads that the agent has joined. */
export type SlackConfig = Required<NonNullable<PublicationSpec['slack']>> & { follow_ups: boolean }

/** Publications of before lack some fields. */
export function slackConfigOf({
  channels = [],
  authors = [],
  members = false,
  user_groups = [],
  direct_messages = true,
  follow_ups = true,
}: Partial<SlackConfig> = {}): SlackConfig {
  return { channels, authors, members, user_groups, direct_messages, follow_ups }
}

const freshnessMs = 5 * 60_000
const signatureForm = /^v0=([0-9a-f]{64})$/
const timestampForm = /^[0-9]{1,12}$/

const challengeForm = z.object({ type: z.literal('url_verification'), challenge: z.string() })

export const slackIntegration: AppIntegration<Partial<SlackConfig>> = {
  check,

  read(body) {
    const payload = parseJsonOrForm(body)
    const { data: event } = eventForm.safeParse(payload)
    if (event) return (config) => readEvent(event, slackConfigOf(config))
    const { data: button } = buttonForm.safeParse(payload)
    return (config) =>
      button ? readButton(button, slackConfigOf(config)) : ignoredDelivery('malformed', '/event')
  },

  workspaceOf(body) {
    const payload = parseJsonOrForm(body)
    return eventForm.safeParse(payload).data?.team_id ?? buttonForm.safeParse(payload).data?.team.id
  },

  challengeOf: (body) => challengeForm.safeParse(parsePayload(body)).data?.challenge,

  changeOf(body) {
    const { event, event_time = 0 } = eventForm.safeParse(parsePayload(body)).data ?? {}
    const isEnd =
      event?.type === 'app_uninstalled' ||
      (event?.type === 'tokens_revoked' && (event.tokens?.bot?.length ?? 0) > 0)
    return isEnd ? { kind: 'revoked', atMs: event_time * 1000 } : undefined
  },

  numberOf: ({ body }) => eventForm.safeParse(parsePayload(body)).data?.event_id,

  callFor,
  searchFor,
  found: findSlackMessage,
  noted: slackNotesAfter,
  verdict: judgeSlackAnswer,
  reasonOf: slackReason,
  urlOf: slackUrlOf,
  mostCharacters,
}

function check(
  { headers, body }: RawDelivery,
  secrets: readonly string[],
  nowMs: number,
): DeliveryCheck {
  const [, hex] = signatureForm.exec(headers['x-slack-signature'] ?? '') ?? []
  const timestamp = headers['x-slack-request-timestamp'] ?? ''
  if (hex === undefined || !timestampForm.test(timestamp))
    return { kind: 'refused', reason: 'unsigned' }
  if (!isSigned(hex, secrets, [`v0:${timestamp}:`, body]))
    return { kind: 'refused', reason: 'forged' }
  const isFresh = Math.abs(nowMs - Number(timestamp) * 1000) <= freshnessMs
  return isFresh ? { kind: 'genuine', id: idOf(body) } : { kind: 'refused', reason: 'stale' }
}

/**
 * A mention arrives as two events when the app also reads the channel's messages. Both have the same channel and time,
 * and so the same id.
 */
export function idOf(body: Uint8Array): string {
  const { data } = eventForm.safeParse(parsePayload(body))
  const { channel, ts, type } = data?.event ?? {}
  const isText = type === 'message' || type === 'app_mention'
  if (data && isText && channel && ts) return `${data.team_id}/${channel}/${ts}`
  return data?.event_id ?? createHash('sha256').update(body).digest('hex')
}

/** Decodes the three characters that Slack writes as entities. */
const plain = (text: string): string =>
  text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')

/** Kinds of messages that people write; Slack marks replies that are shown in the channel too. */
const plainSubtypes = [undefined, 'file_share', 'thread_broadcast']

/** The ids of the app as a user. */
const botsOf = ({ authorizations }: Pick<SlackEvent, 'authorizations'>): string[] =>
  (authorizations ?? []).flatMap(({ user_id }) => user_id ?? [])

const isByProgram = ({ event: { bot_id, user = '' }, authorizations }: SlackEvent): boolean =>
  bot_id !== undefined || botsOf({ authorizations }).includes(user)

/** Returns undefined when the event is no text of a person to the app. */
function kindOf({ event, authorizations }: SlackEvent) {
  const { type, subtype, channel_type, text = '' } = event
  if (!plainSubtypes.includes(subtype)) return undefined
  if (type === 'app_mention') return 'mention in a channel'
  if (type !== 'message') return undefined
  if (channel_type === 'im') return 'direct message'
  const isMentioned = botsOf({ authorizations }).some(
    (id) => text.includes(`<@${id}>`) || text.includes(`<@${id}|`),
  )
  if (isMentioned) return channel_type === 'mpim' ? 'mention in a group message' : undefined
  return kindOfFollowUp(event)
}

function kindOfFollowUp({ channel_type, text = '', ...event }: SlackEvent['event']) {
  const isInThread = event.thread_ts !== undefined && event.thread_ts !== event.ts
  if (!isInThread || isForOthers.test(text)) return undefined
  return channel_type === 'mpim' ? 'message in a thread of a group' : 'message in a thread'
}

/** A text that begins with a mention of a person, a group or a whole channel. The app is not mentioned. */
const isForOthers = /^\s*<[@!]/

const isFollowUp = (kind: string): boolean => kind.startsWith('message in a thread')

const isServed = (
  kind: string,
  channel: string,
  { channels, direct_messages, follow_ups }: SlackConfig,
): boolean => {
  if (isFollowUp(kind) && !follow_ups) return false
  return kind === 'mention in a channel' || kind === 'message in a thread'
    ? channels.some((each) => sameName(each, channel))
    : direct_messages
}

function readEvent(payload: SlackEvent, config: SlackConfig): Incoming {
  const { team_id, event } = payload
  const { channel, ts, user } = event
  const kind = kindOf(payload)
  if (!kind) return ignoredDelivery('unrelated', '/event/type')
  if (!channel || !ts) return ignoredDelivery('malformed', '/event/channel')
  if (user === undefined || isByProgram(payload)) return ignoredDelivery('bot', '/event/bot_id')
  if (!isServed(kind, channel, config)) return ignoredDelivery('unrelated', '/event/channel')
  const thread = event.thread_ts ?? ts
  const scope = `${channel}:${thread}`
  const target = { channel, thread, since: ts, user, team: team_id }
  const allowed = allowedBy(user, event.user_team, team_id, config)
  if (!allowed) return ignoredStranger(kind, { scope, author: user, target })
  const text = textOf(event)
  const files = incomingFiles(event.files ?? [])
  if (text === '' && files.length === 0) return ignoredDelivery('malformed', '/event/text')
  return {
    kind: 'message',
    scope,
    author: user,
    text: text.toWellFormed(),
    named: namedIn(text.toWellFormed(), botsOf(payload)),
    ...(isFollowUp(kind) && { isFollowUp: true }),
    ...(files.length > 0 && { files }),
    context: { channel, kind, ...quotedIn(event) },
    target,
    ...allowed,
  }
}

const textOf = ({ text = '' }: SlackEvent['event']): string => plain(text).trim()

/** People talk to each other in a thread too: a message without a mention is not refused. */
const ignoredStranger = (kind: string, refusal: Refusal): Incoming =>
  isFollowUp(kind)
    ? ignoredDelivery('unrelated', '/event/user')
    : { ...ignoredDelivery('stranger', '/event/user'), refusal }

function quotedIn({ attachments = [] }: SlackEvent['event']): IncomingMessage['context'] {
  const quoted = quotedMessages(attachments)
  return quoted.length === 0
    ? {}
    : { quoted: quoted.map((each) => ({ ...each, text: shortenContext(each.text) })) }
}

/**
 * Undefined for a stranger, and for people of other companies: in a shared channel, their accounts belong to another
 * workspace.
 */
function allowedBy(
  user: string,
  team: string | undefined,
  own: string,
  { authors, members, user_groups }: SlackConfig,
): Pick<IncomingMessage, 'check'> | undefined {
  if (team !== undefined && team !== own) return undefined
  if (authors.some((each) => sameName(each, user))) return {}
  return members || user_groups.length > 0 ? { check: { user, team: own } } : undefined
}

function readButton(
  { team, user, channel, message, actions: [action] }: z.infer<typeof buttonForm>,
  config: SlackConfig,
): Incoming {
  const allowed = allowedBy(user.id, user.team_id, team.id, config)
  if (!allowed) return ignoredDelivery('stranger', '/user/id')
  return {
    kind: 'decision',
    scope: `${channel.id}:${message.thread_ts ?? message.ts}`,
    author: user.id,
    call: action.value,
    message: message.ts,
    result: action.action_id,
    ...allowed,
  }
}
