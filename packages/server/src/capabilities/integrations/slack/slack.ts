/** Deliveries of Slack: mentions, direct messages, and pressed buttons of questions. */
import { createHash } from 'node:crypto'
import type { PublicationSpec } from '@steward/protocol/integrations.ts'
import { z } from 'zod'
import { isSigned } from '../deliveries/hmac.ts'
import type { IncomingFile } from '../../../ground/database/tables/integrations.ts'
import type { AppIntegration, DeliveryCheck, Incoming, RawDelivery } from '../integration.ts'
import { ignoredDelivery, parsePayload } from '../deliveries/payload.ts'
import {
  callFor,
  findSlackMessage,
  slackNotesAfter,
  searchFor,
  judgeSlackAnswer,
} from './answers.ts'

type SlackConfig = NonNullable<PublicationSpec['slack']>

const freshnessMs = 5 * 60_000
const signatureForm = /^v0=([0-9a-f]{64})$/
const timestampForm = /^[0-9]{1,12}$/

const name = z.string().min(1).max(256)
const fileForm = z.object({
  name: z.string().max(1_024).default('file'),
  mimetype: z.string().max(256).default('application/octet-stream'),
  size: z.number().default(0),
  url_private: z.string().max(4_096).default(''),
  is_external: z.boolean().default(false),
})
const eventForm = z.object({
  type: z.literal('event_callback'),
  team_id: name,
  event_id: name,
  /** The time of the event in seconds. */
  event_time: z.number().optional(),
  event: z.object({
    type: z.string(),
    subtype: z.string().optional(),
    bot_id: z.string().optional(),
    user: z.string().optional(),
    user_team: z.string().optional(),
    text: z.string().max(100_000).optional(),
    channel: name.optional(),
    channel_type: z.string().optional(),
    ts: name.optional(),
    thread_ts: name.optional(),
    files: z.array(z.unknown()).max(100).optional(),
    tokens: z.object({ bot: z.array(z.string()).optional() }).optional(),
  }),
})
type SlackEvent = z.infer<typeof eventForm>

const buttonForm = z.object({
  type: z.literal('block_actions'),
  team: z.object({ id: name }),
  user: z.object({ id: name, team_id: z.string().optional() }),
  channel: z.object({ id: name }),
  message: z.object({ ts: name, thread_ts: name.optional() }),
  actions: z.tuple([z.object({ action_id: z.enum(['allow', 'deny']), value: name })]),
})

const challengeForm = z.object({ type: z.literal('url_verification'), challenge: z.string() })

/** The JSON of the body, or of the field `payload` of a form. */
function jsonOf(body: Uint8Array): unknown {
  const plain = parsePayload(body)
  if (plain !== undefined) return plain
  const form = new URLSearchParams(Buffer.from(body).toString('utf8')).get('payload')
  return form === null ? undefined : parsePayload(Buffer.from(form))
}

export const slackIntegration: AppIntegration<SlackConfig> = {
  check,

  read(body) {
    const payload = jsonOf(body)
    const { data: event } = eventForm.safeParse(payload)
    if (event) return (config) => readEvent(event, config)
    const { data: button } = buttonForm.safeParse(payload)
    return (config) =>
      button ? readButton(button, config) : ignoredDelivery('malformed', '/event')
  },

  workspaceOf(body) {
    const payload = jsonOf(body)
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

  callFor,
  searchFor,
  found: findSlackMessage,
  noted: slackNotesAfter,
  verdict: judgeSlackAnswer,
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

/** Returns undefined when the event is no text of a person to the app. */
function kindOf({ type, subtype, channel_type }: SlackEvent['event']) {
  const isPlain = subtype === undefined || subtype === 'file_share'
  if (!isPlain) return undefined
  if (type === 'app_mention') return 'mention in a channel'
  return type === 'message' && channel_type === 'im' ? 'direct message' : undefined
}

function readEvent({ team_id, event }: SlackEvent, config: SlackConfig): Incoming {
  const { channel, ts, user } = event
  const kind = kindOf(event)
  if (!kind) return ignoredDelivery('unrelated', '/event/type')
  if (!channel || !ts) return ignoredDelivery('malformed', '/event/channel')
  if (event.bot_id !== undefined || user === undefined)
    return ignoredDelivery('bot', '/event/bot_id')
  if (kind !== 'direct message' && !config.channels.includes(channel))
    return ignoredDelivery('unrelated', '/event/channel')
  if (!isAllowed(user, event.user_team ?? team_id, team_id, config))
    return ignoredDelivery('stranger', '/event/user')
  const text = plain(event.text ?? '').trim()
  const files = filesOf(event)
  if (text === '' && files.length === 0) return ignoredDelivery('malformed', '/event/text')
  const thread = event.thread_ts ?? ts
  return {
    kind: 'message',
    scope: `${channel}:${thread}`,
    author: user,
    text: text.toWellFormed(),
    ...(files.length > 0 && { files }),
    context: { channel, kind },
    target: { channel, thread, since: ts, user, team: team_id },
  }
}

const filesOf = ({ files = [] }: SlackEvent['event']): IncomingFile[] =>
  files
    .flatMap((each) => fileForm.safeParse(each).data ?? [])
    .map(({ name: file, mimetype, size, url_private, is_external }) => ({
      name: file.toWellFormed(),
      media_type: mimetype,
      size,
      // The address of an external file was chosen by the app that added the file, so it is not fetched.
      url: is_external ? '' : url_private,
    }))

/** Refuses people of other companies: in a shared channel, their accounts belong to another workspace. */
const isAllowed = (user: string, team: string, own: string, { authors }: SlackConfig): boolean =>
  team === own && authors.includes(user)

function readButton(
  { team, user, channel, message, actions: [action] }: z.infer<typeof buttonForm>,
  config: SlackConfig,
): Incoming {
  if (!isAllowed(user.id, user.team_id ?? team.id, team.id, config))
    return ignoredDelivery('stranger', '/user/id')
  return {
    kind: 'decision',
    scope: `${channel.id}:${message.thread_ts ?? message.ts}`,
    author: user.id,
    call: action.value,
    message: message.ts,
    result: action.action_id,
  }
}
