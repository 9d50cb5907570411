/** The context of a request in Slack: the thread before it, or the newest messages of its channel, and linked messages. */
import { z } from 'zod'
import type { ContextData, IncomingFile } from '../../../ground/database/tables/integrations.ts'
import { beginningOf, boundedEntries } from '../context-bounds.ts'
import type { ContextSource, GatherContext } from '../context.ts'
import type { App } from '../installations/app.ts'
import type { IncomingMessage } from '../integration.ts'
import { incomingFiles } from './payload.ts'
import { slackConfigOf } from './slack.ts'

const messageForm = z.object({
  ts: z.string(),
  user: z.string().nullish(),
  bot_id: z.string().nullish(),
  username: z.string().nullish(),
  bot_profile: z.object({ name: z.string().nullish() }).nullish(),
  text: z.string().nullish(),
  files: z.array(z.unknown()).nullish(),
})
type SlackMessage = z.infer<typeof messageForm>
const listed = z.object({
  messages: z.array(messageForm),
  has_more: z.boolean().nullish(),
  response_metadata: z.object({ next_cursor: z.string().nullish() }).nullish(),
})
const userForm = z.object({
  user: z.object({
    id: z.string(),
    name: z.string().nullish(),
    real_name: z.string().nullish(),
    team_id: z.string().nullish(),
    deleted: z.boolean().nullish(),
    is_bot: z.boolean().nullish(),
    is_restricted: z.boolean().nullish(),
    is_ultra_restricted: z.boolean().nullish(),
    is_stranger: z.boolean().nullish(),
    profile: z.object({ display_name: z.string().nullish() }).nullish(),
  }),
})
const groupForm = z.object({ users: z.array(z.string()) })

const headers = {}
const get = (method: string, query: Record<string, string>) =>
  ({
    method: 'GET',
    path: `/${method}?${String(new URLSearchParams(query))}`,
    headers,
    body: null,
  }) as const

/** Slack lists a thread from its beginning, in pages. */
const [pageSize, mostPages] = ['200', 5]
const channelMessages = '30'
const threadCharacters = 60_000
const [mostLinks, mostNames] = [3, 40]

/** The address of a message, as people copy it. */
const address =
  /https:\/\/[\w-]+\.slack\.com\/archives\/(\w+)\/p(\d{10})(\d{6})(?:\?[^\s>|]*?thread_ts=(\d{1,12}\.\d{1,12}))?/g

type RequestPosition = { channel: string; thread: string; ts: string }

/** `oldest`: messages after this time; null for all. */
async function threadBefore(
  { ask }: ContextSource,
  { channel, thread, ts }: RequestPosition,
  oldest: string | null,
): Promise<SlackMessage[]> {
  const all: SlackMessage[] = []
  let cursor = ''
  for (let page = 0; page < mostPages; page++) {
    const query = {
      channel,
      ts: thread,
      latest: ts,
      inclusive: 'false',
      limit: pageSize,
      ...(oldest !== null && { oldest }),
      ...(cursor !== '' && { cursor }),
    }
    const call = get('conversations.replies', query)
    const found = await ask({ call, form: listed, what: 'the thread' })
    if (!found) break
    all.push(...found.messages)
    cursor = found.response_metadata?.next_cursor ?? ''
    if (cursor === '') break
  }
  return all
}

async function channelBefore(
  { ask }: ContextSource,
  { channel, ts }: RequestPosition,
): Promise<SlackMessage[]> {
  const query = { channel, latest: ts, inclusive: 'false', limit: channelMessages }
  const call = get('conversations.history', query)
  const found = await ask({ call, form: listed, what: 'the messages of the channel' })
  // Slack lists a channel from its end.
  return (found?.messages ?? []).toReversed()
}

/**
 * Attack: the app may be in channels that the author may not read. So a linked message is read only in channels of the
 * publication, and in the channel of the request.
 */
async function linkedThreads(
  source: ContextSource,
  text: string,
  own: string,
): Promise<{ link: string; messages: SlackMessage[] }[]> {
  const links = [...text.matchAll(address)].slice(0, mostLinks)
  const channels = [own, ...(source.spec.slack?.channels ?? [])]
  const found: { link: string; messages: SlackMessage[] }[] = []
  for (const [link, channel = '', seconds = '', rest = '', thread] of links) {
    const what = `the linked message ${link}`
    if (!channels.includes(channel)) {
      source.miss(`${what}: its channel is none of the publication`)
      continue
    }
    const ts = thread ?? `${seconds}.${rest}`
    const call = get('conversations.replies', { channel, ts, limit: '50' })
    const answer = await source.ask({ call, form: listed, what })
    if (answer) found.push({ link, messages: answer.messages })
  }
  return found
}

async function namesOf(
  { ask, remembered }: ContextSource,
  ids: readonly string[],
): Promise<Map<string, string>> {
  const found = await Promise.all(
    [...new Set(ids)].slice(0, mostNames).map(async (user) => {
      const call = get('users.info', { user })
      const answer = await remembered(`user/${user}`, () =>
        ask({ call, form: userForm, what: 'names of people' }),
      )
      const { profile, real_name, name } = answer?.user ?? {}
      const shown = [profile?.display_name, real_name, name].find((each) => each)
      return shown ? [[user, shown] as const] : []
    }),
  )
  return new Map(found.flat())
}

const mention = /<@(\w+)(?:\|[^>]*)?>/g
const mentionedIn = ({ text }: SlackMessage): string[] =>
  [...(text ?? '').matchAll(mention)].flatMap(([, id]) => id ?? [])

const timeOf = (ts: string): string | null => {
  const ms = Number(ts) * 1000
  return Number.isFinite(ms) && ms < 8.64e15 ? new Date(ms).toISOString() : null
}

function shown(names: Map<string, string>) {
  return ({ ts, user, username, bot_profile, bot_id, text, files }: SlackMessage) => {
    const author = (user && (names.get(user) ?? user)) || (bot_profile?.name ?? username ?? bot_id)
    const written = (text ?? '')
      .replaceAll(mention, (_, id: string) => `@${names.get(id) ?? id}`)
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&amp;', '&')
    const named = incomingFiles(files ?? []).map(({ name }) => name)
    return {
      author: author ?? null,
      ...(user && author !== user && { author_id: user }),
      ...(bot_id && { is_program: true }),
      at: timeOf(ts),
      text: beginningOf(written),
      ...(named.length > 0 && { files: named }),
    }
  }
}

function placeOf({ target }: IncomingMessage): RequestPosition | undefined {
  const { channel, thread, since: ts } = target
  const isPlace = typeof channel === 'string' && typeof thread === 'string'
  return isPlace && typeof ts === 'string' ? { channel, thread, ts } : undefined
}

/** A session that goes on reads what others have said since its last message. */
export const gatherSlack: GatherContext = async (source, message) => {
  const { since, botUserId } = source
  const place = placeOf(message)
  if (!place) return { context: {} }
  const isInThread = place.thread !== place.ts
  const isShown = ({ ts, user }: SlackMessage) =>
    ts !== place.ts && (since === null || (ts !== place.thread && user !== botUserId))
  const [before, linked] = await Promise.all([
    isInThread ? threadBefore(source, place, since) : channelBefore(source, place),
    linkedThreads(source, message.text, place.channel),
  ])
  const said = before.filter(isShown)
  const all = [...said, ...linked.flatMap(({ messages }) => messages)]
  const own = { ts: '', text: message.text, user: message.author }
  const names = await namesOf(
    source,
    [own, ...all].flatMap((each) => [...(each.user ? [each.user] : []), ...mentionedIn(each)]),
  )
  const show = shown(names)
  const label = isInThread ? 'thread' : 'earlier_messages'
  const author = names.get(message.author)
  return {
    context: {
      ...(author !== undefined && { author_name: author }),
      ...(said.length > 0 && { [label]: boundedEntries(said.map(show), threadCharacters) }),
      ...(linked.length > 0 && {
        linked_messages: linked.map(({ link, messages }): ContextData => ({
          link,
          messages: boundedEntries(messages.map(show), threadCharacters / mostLinks),
        })),
      }),
    },
    files: isInThread ? filesOf(said) : [],
  }
}

/** The newest files of the thread come first. */
const filesOf = (messages: readonly SlackMessage[]): IncomingFile[] =>
  messages.toReversed().flatMap(({ files }) => incomingFiles(files ?? []))

async function isMember(source: ContextSource, user: string, team: string): Promise<boolean> {
  const call = get('users.info', { user })
  const found = await source.remembered(`user/${user}`, () =>
    source.ask({ call, form: userForm, what: `whether ${user} is a member of the workspace` }),
  )
  if (!found || found.user.team_id !== team) return false
  const { deleted, is_bot, is_restricted, is_ultra_restricted, is_stranger } = found.user
  return ![deleted, is_bot, is_restricted, is_ultra_restricted, is_stranger].includes(true)
}

async function isInGroup(source: ContextSource, user: string, group: string): Promise<boolean> {
  const call = get('usergroups.users.list', { usergroup: group })
  const what = `the people of the user group ${group}`
  const found = await source.remembered(`group/${group}`, () =>
    source.ask({ call, form: groupForm, what }),
  )
  return found?.users.includes(user) === true
}

export const mayCallOnSlack: NonNullable<App['mayCall']> = async (source, { user, team }) => {
  if (typeof user !== 'string' || typeof team !== 'string') return false
  const { members, user_groups } = slackConfigOf(source.spec.slack)
  if (!(await isMember(source, user, team))) return false
  if (members) return true
  for (const group of user_groups) if (await isInGroup(source, user, group)) return true
  return false
}
