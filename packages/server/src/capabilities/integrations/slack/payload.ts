/** The forms of Slack's deliveries: the parts that are read. */
import { z } from 'zod'
import type { IncomingFile } from '../../../ground/database/tables/integrations.ts'

export const name = z.string().min(1).max(256)
const fileForm = z.object({
  name: z.string().max(1_024).default('file'),
  mimetype: z.string().max(256).default('application/octet-stream'),
  size: z.number().default(0),
  url_private: z.string().max(4_096).default(''),
  is_external: z.boolean().default(false),
})

export const eventForm = z.object({
  type: z.literal('event_callback'),
  team_id: name,
  event_id: name,
  /** The time of the event in seconds. */
  event_time: z.number().optional(),
  /** The app as a user of the workspace. */
  authorizations: z.array(z.object({ user_id: z.string().nullish() })).nullish(),
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
    attachments: z.array(z.unknown()).max(100).optional(),
    tokens: z.object({ bot: z.array(z.string()).optional() }).optional(),
  }),
})
export type SlackEvent = z.infer<typeof eventForm>

export const buttonForm = z.object({
  type: z.literal('block_actions'),
  team: z.object({ id: name }),
  user: z.object({ id: name, team_id: z.string().optional() }),
  channel: z.object({ id: name }),
  message: z.object({ ts: name, thread_ts: name.optional() }),
  actions: z.tuple([z.object({ action_id: z.enum(['allow', 'deny']), value: name })]),
})

/** A message of somebody else that the author has shared with the request. */
const quotedForm = z.object({
  text: z.string().min(1),
  author_name: z.string().nullish(),
  from_url: z.string().nullish(),
  ts: z.union([z.string(), z.number()]).nullish(),
})

export const quotedMessages = (attachments: readonly unknown[]) =>
  attachments.flatMap((each) => {
    const { data } = quotedForm.safeParse(each)
    if (!data) return []
    const { author_name, from_url, text } = data
    return [{ author: author_name ?? null, link: from_url ?? null, text }]
  })

export const incomingFiles = (files: readonly unknown[]): IncomingFile[] =>
  files
    .flatMap((each) => fileForm.safeParse(each).data ?? [])
    .map(({ name: file, mimetype, size, url_private, is_external }) => ({
      name: file.toWellFormed(),
      media_type: mimetype,
      size,
      // The address of an external file was chosen by the app that added the file, so it is not fetched.
      url: is_external ? '' : url_private,
    }))
