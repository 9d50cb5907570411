/** A stub of Slack for its apps: code exchange, messages, statuses, files. It refuses invalid requests. */
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { z } from 'zod'
import type { ReceiverAnswer, ReceivedPost } from './receiver.ts'
import type { ServiceClients } from './service.ts'

const signingSecret = 'a signing secret of many characters'

export const slackSettings = (base: string): Record<string, string> => ({
  INTEGRATIONS_SLACK_CLIENT_ID: 'client',
  INTEGRATIONS_SLACK_CLIENT_SECRET: 'client secret of the chat',
  INTEGRATIONS_SLACK_SIGNING_SECRET: signingSecret,
  INTEGRATIONS_SLACK_APP_TOKEN: 'xapp-token',
  INTEGRATIONS_SLACK_URL: `${base}/slack`,
  INTEGRATIONS_SLACK_API_URL: `${base}/slack/api`,
})

const metadata = z.object({ event_type: z.string(), event_payload: z.object({ id: z.string() }) })
const message = z.looseObject({
  channel: z.string(),
  thread_ts: z.string(),
  text: z.string().max(40_000).optional(),
  markdown_text: z.string().max(12_000).optional(),
  metadata,
  blocks: z.array(z.looseObject({ type: z.string() })).optional(),
})

const stream = z.strictObject({
  ...{ channel: z.string(), thread_ts: z.string(), markdown_text: z.string().min(1).max(12_000) },
  ...{ recipient_user_id: z.string(), recipient_team_id: z.literal('T1') },
})
const appended = z.strictObject({
  ...{ channel: z.string(), ts: z.string(), markdown_text: z.string().max(12_000).optional() },
  ...{ metadata: metadata.optional(), blocks: message.shape.blocks },
})

type SlackPost = {
  channel: string
  thread_ts: string
  ts: string
  text?: string | undefined
  markdown_text?: string | undefined
  metadata?: z.infer<typeof metadata> | undefined
  blocks?: { type: string }[] | undefined
  /** True while text is still being appended. */
  isStream?: boolean
  files?: { id: string; title: string }[]
}

const address = z.strictObject({ filename: z.string().min(1), length: z.coerce.number().min(1) })
const completed = z.strictObject({
  files: z.array(z.strictObject({ id: z.string(), title: z.string() })).min(1),
  ...{ channel_id: z.string(), thread_ts: z.string(), initial_comment: z.string().optional() },
})

/** A message of a person or another program. */
type SlackSaid = {
  channel: string
  ts: string
  thread_ts?: string
  user?: string
  text: string
  files?: object[]
}

export type SlackStub = {
  messages: SlackPost[]
  /** Messages of people, in channels that the app reads. */
  said: SlackSaid[]
  /** People by id, as `users.info` says them. */
  people: Map<string, object>
  /** The members of user groups. */
  groups: Map<string, string[]>
  /** Channels that the app is not in. */
  closed: Set<string>
  statuses: object[]
  /** Contents of files by id; undefined until the upload. */
  bytes: Map<string, string | undefined>
  /** True when the app was uninstalled. */
  isEnded: () => boolean
  answer(posted: ReceivedPost): ReceiverAnswer | undefined
}

/** Parses a body: JSON, or a form of the official client, whose objects and lists are JSON. */
function fieldsOf(body: string, type = ''): unknown {
  if (type.startsWith('application/json')) return JSON.parse(body)
  const fields = [...new URLSearchParams(body)].map(([name, value]) => {
    const isJson = name === 'metadata' || name === 'blocks' || name === 'files'
    return [name, isJson ? (JSON.parse(value) as unknown) : value]
  })
  return Object.fromEntries(fields)
}

/** The scopes that the service asks for. */
const allScopes =
  'app_mentions:read,channels:history,chat:write,files:read,groups:history,im:history,mpim:history,usergroups:read,users:read'

/** The bot's token is `xoxb-token`. `socketUrl`: address of a WebSocket server. */
export function slackStub(
  socketUrl: string,
  { scopes }: { scopes: () => string } = { scopes: () => allScopes },
): SlackStub {
  const messages: SlackStub['messages'] = []
  const said: SlackSaid[] = []
  const people: SlackStub['people'] = new Map()
  const groups: SlackStub['groups'] = new Map()
  const closed: SlackStub['closed'] = new Set()
  const bytes: SlackStub['bytes'] = new Map()
  const statuses: object[] = []
  let ended = false
  const json = (body: object): ReceiverAnswer => ({ status: 200, body: JSON.stringify(body) })
  const ok = (body: object = {}) => json({ ok: true, ...body })

  function grow(method: string, fields: unknown): ReceiverAnswer {
    if (method === 'chat.startStream') {
      const ts = `${messages.length + 1}.5`
      messages.push({ ...stream.parse(fields), ts, isStream: true })
      return ok({ ts })
    }
    const { ts, markdown_text = '', ...rest } = appended.parse(fields)
    const kept = messages.find((each) => each.ts === ts && each.isStream)
    if (!kept) return json({ ok: false, error: 'message_not_in_streaming_state' })
    const isStream = method === 'chat.appendStream'
    Object.assign(kept, rest, { markdown_text: kept.markdown_text + markdown_text, isStream })
    return ok()
  }

  /** Handles the upload of a file: it appears once, after its bytes have arrived. */
  function upload(method: string, fields: unknown, base: string): ReceiverAnswer {
    if (method === 'files.getUploadURLExternal') {
      address.parse(fields)
      const file_id = `F${bytes.size + 1}`
      bytes.set(file_id, undefined)
      return ok({ file_id, upload_url: `${base}/slack/files/upload/${file_id}` })
    }
    const { files, channel_id: channel, initial_comment, ...rest } = completed.parse(fields)
    const isThere = ({ id }: { id: string }) => bytes.get(id) !== undefined
    const isShown = messages.some((each) => each.files?.some(({ id }) => id === files[0]?.id))
    if (isShown || !files.every(isThere)) return json({ ok: false, error: 'file_not_found' })
    const ts = `${messages.length + 1}.5`
    messages.push({ ...rest, channel, ts, files, text: initial_comment })
    return ok({ files })
  }

  /** Answers the methods that read, when the app has the scope for it. */
  function reading(method: string, query: URLSearchParams): ReceiverAnswer | undefined {
    const needed = neededScope(method, query.get('channel') ?? '')
    if (needed === undefined) return undefined
    if (!scopes().split(',').includes(needed))
      return json({ ok: false, error: 'missing_scope', needed, provided: scopes() })
    switch (method) {
      case 'conversations.replies':
        return ok(pageOf(repliesTo([...said, ...messages], query), query))
      case 'conversations.history':
        return ok({ messages: historyOf(said, query) })
      case 'users.info': {
        const user = people.get(query.get('user') ?? '')
        return user ? ok({ user }) : json({ ok: false, error: 'user_not_found' })
      }
      default:
        return ok({ users: groups.get(query.get('usergroup') ?? '') ?? [] })
    }
  }

  /** Answers what needs no token of the app. */
  function callOfApp(method: string, { body, headers }: ReceivedPost): ReceiverAnswer | undefined {
    if (method === 'oauth.v2.access') return installing(body)
    const isSocket = headers.authorization === 'Bearer xapp-token'
    return method === 'apps.connections.open' && isSocket ? ok({ url: socketUrl }) : undefined
  }

  function installing(body: string): ReceiverAnswer {
    const fields = Object.fromEntries(new URLSearchParams(body))
    assert.equal(fields['client_secret'], 'client secret of the chat')
    if (fields['code'] === 'a code of an organisation')
      return ok({ access_token: 'xoxb-org', is_enterprise_install: true, team: null })
    if (fields['code'] !== 'a code') return json({ ok: false, error: 'invalid_code' })
    const team = { id: 'T1', name: 'Acme' }
    const token = { access_token: 'xoxb-token', bot_user_id: 'UBOT', scope: scopes() }
    return ok({ ...token, team })
  }

  function call(method: string, posted: ReceivedPost): ReceiverAnswer {
    const { body, headers, path } = posted
    const ofApp = callOfApp(method, posted)
    if (ofApp) return ofApp
    if (headers.authorization !== 'Bearer xoxb-token')
      return json({ ok: false, error: 'invalid_auth' })
    if (method.startsWith('files.'))
      return upload(method, fieldsOf(body, headers['content-type']), `http://${headers.host}`)
    const query = new URLSearchParams(path.split('?')[1] ?? body)
    const read = reading(method, query)
    if (read) return read
    switch (method) {
      case 'chat.postMessage':
        if (closed.has(channelIn(body, headers['content-type'])))
          return json({ ok: false, error: 'not_in_channel' })
        messages.push({
          ...message.parse(fieldsOf(body, headers['content-type'])),
          ts: `${messages.length + 1}.5`,
        })
        return ok({ ts: messages.at(-1)?.ts })
      case 'chat.startStream':
      case 'chat.appendStream':
      case 'chat.stopStream':
        return grow(method, fieldsOf(body, headers['content-type']))
      case 'assistant.threads.setStatus':
        statuses.push(
          z
            .object({ channel_id: z.string(), thread_ts: z.string(), status: z.string() })
            .parse(fieldsOf(body, headers['content-type'])),
        )
        return ok()
      case 'apps.uninstall':
        ended = true
        return ok()
      default:
        return json({ ok: false, error: 'unknown_method' })
    }
  }

  return {
    messages,
    said,
    people,
    groups,
    closed,
    statuses,
    bytes,
    isEnded: () => ended,
    answer(posted) {
      const [, fileId] = /^\/slack\/files\/upload\/(F\d+)$/.exec(posted.path) ?? []
      if (fileId !== undefined) {
        bytes.set(fileId, posted.body)
        return { status: 200, body: `OK - ${posted.body.length}` }
      }
      const [, file] = /^\/files-pri\/([\w.]+)/.exec(posted.path) ?? []
      if (file !== undefined) return fileOf(file, posted)
      const [, method] = /^\/slack\/api\/([\w.]+)/.exec(posted.path) ?? []
      return method === undefined ? undefined : call(method, posted)
    },
  }
}

/** The scope that a method needs, of those that an installation may lack. */
function neededScope(method: string, channel: string): string | undefined {
  if (method === 'users.info') return 'users:read'
  if (method === 'usergroups.users.list') return 'usergroups:read'
  if (!method.startsWith('conversations.')) return undefined
  if (channel.startsWith('D')) return 'im:history'
  return channel.startsWith('G') ? 'groups:history' : 'channels:history'
}

const channelIn = (body: string, type = ''): string =>
  z.looseObject({ channel: z.string().default('') }).parse(fieldsOf(body, type)).channel

type Timed = { channel: string; ts: string; thread_ts?: string }

const isBefore = ({ ts }: Timed, query: URLSearchParams): boolean => {
  const latest = query.get('latest')
  return latest === null || Number(ts) < Number(latest)
}

/** A thread from its beginning, as Slack lists it: the first message always comes. */
function repliesTo<Each extends Timed>(all: readonly Each[], query: URLSearchParams): Each[] {
  const [channel, thread] = [query.get('channel'), query.get('ts')]
  const oldest = Number(query.get('oldest') ?? 0)
  return all
    .filter((each) => each.channel === channel && (each.thread_ts ?? each.ts) === thread)
    .filter((each) => each.ts === thread || (Number(each.ts) > oldest && isBefore(each, query)))
    .sort((one, other) => Number(one.ts) - Number(other.ts))
}

/** At most 50 messages a page, so that a long thread has several. */
function pageOf(all: readonly object[], query: URLSearchParams) {
  const from = Number(query.get('cursor') ?? 0)
  const size = Math.min(Number(query.get('limit') ?? 100), 50)
  const next = from + size < all.length ? String(from + size) : ''
  return {
    messages: all.slice(from, from + size),
    has_more: next !== '',
    response_metadata: { next_cursor: next },
  }
}

const historyOf = (said: readonly SlackSaid[], query: URLSearchParams): SlackSaid[] =>
  said
    .filter((each) => each.channel === query.get('channel') && each.thread_ts === undefined)
    .filter((each) => isBefore(each, query))
    .sort((one, other) => Number(other.ts) - Number(one.ts))
    .slice(0, Number(query.get('limit') ?? 100))

/** Returns the file. Like Slack, it answers an app without permission with a sign-in page. */
function fileOf(name: string, { headers }: ReceivedPost): ReceiverAnswer {
  const isAllowed = headers.authorization === 'Bearer xoxb-token' && name !== 'closed.txt'
  return isAllowed
    ? { status: 200, headers: { 'content-type': 'text/plain' }, body: `bytes of ${name}\n` }
    : { status: 200, headers: { 'content-type': 'text/html; charset=utf-8' }, body: '<html>' }
}

/** Posts a delivery with the signature and headers of Slack. */
export async function deliverSlack(
  { base }: Pick<ServiceClients, 'base'>,
  payload: object,
  { secret = signingSecret, isForm = false } = {},
): Promise<Response> {
  const json = JSON.stringify(payload)
  const body = isForm ? String(new URLSearchParams({ payload: json })) : json
  const timestamp = String(Math.floor(Date.now() / 1000))
  const mark = createHmac('sha256', secret).update(`v0:${timestamp}:${body}`).digest('hex')
  const headers = {
    'content-type': isForm ? 'application/x-www-form-urlencoded' : 'application/json',
    'x-slack-signature': `v0=${mark}`,
    'x-slack-request-timestamp': timestamp,
  }
  return fetch(`${base}/v1/ext/integrations/slack/webhook`, { method: 'POST', headers, body })
}

/** The event for a direct message of Ada to the app. */
export const slackMessage = (text: string, ts: string, thread_ts?: string, user = 'UADA') => ({
  ...{ type: 'event_callback', team_id: 'T1', event_id: `Ev${ts}` },
  event: {
    ...{ type: 'message', channel_type: 'im', channel: 'D1', user, text, ts },
    ...(thread_ts !== undefined && { thread_ts }),
  },
})

/** The event for a mention of the app in a channel. */
export const slackMention = (
  text: string,
  ts: string,
  {
    thread,
    channel = 'C1',
    user = 'UADA',
    subtype,
  }: {
    thread?: string
    channel?: string
    user?: string
    subtype?: string
  } = {},
) => ({
  ...{ type: 'event_callback', team_id: 'T1', event_id: `Ev${channel}${ts}` },
  authorizations: [{ team_id: 'T1', user_id: 'UBOT', is_bot: true }],
  event: {
    ...{ type: 'app_mention', channel, user, text: `<@UBOT>\n${text}`, ts },
    ...(thread !== undefined && { thread_ts: thread }),
    ...(subtype !== undefined && { subtype }),
  },
})

/** Ada presses a button of a message of the thread. */
export const slackPress = (
  button: object,
  message: Pick<SlackPost, 'ts' | 'thread_ts'> | undefined,
) => ({
  ...{ type: 'block_actions', team: { id: 'T1' }, user: { id: 'UADA', team_id: 'T1' } },
  ...{ channel: { id: 'D1' }, message: { ts: message?.ts, thread_ts: message?.thread_ts } },
  actions: [button],
})
