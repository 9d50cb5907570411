/**
 * Uploads of an agent's files into a thread of Slack: an address for the bytes of each file, and one message for all
 * files.
 */
import { z } from 'zod'
import type { FileUploads, ProviderCall } from '../integration.ts'
import { parsePayload } from '../deliveries/payload.ts'
import { searchFor, quietPlain } from './answers.ts'

/** Slack accepts the arguments of these two methods only as a form. */
const posting = (path: string, fields: Record<string, string>): ProviderCall => ({
  method: 'POST',
  path,
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  body: String(new URLSearchParams(fields)),
  isOptional: true,
})

const Target = z.object({ file_id: z.string().min(1).max(256), upload_url: z.url().max(4_096) })
const listed = z.object({
  messages: z.array(z.object({ files: z.array(z.object({ id: z.unknown() })).optional() })),
})

export const slackFiles: FileUploads = {
  scope: 'files:write',
  callForTarget: ({ name, size }) =>
    posting('/files.getUploadURLExternal', { filename: name, length: String(size) }),
  targetOf(body) {
    const { data } = Target.safeParse(parsePayload(Buffer.from(body)))
    return data && { id: data.file_id, url: data.upload_url }
  },
  callForAll: (files, comment, { target }) =>
    posting('/files.completeUploadExternal', {
      files: JSON.stringify(files.map(({ id, name }) => ({ id, title: name }))),
      channel_id: String(target['channel']),
      thread_ts: String(target['thread']),
      ...(comment !== undefined && { initial_comment: quietPlain(comment) }),
    }),
  searchFor: (telling, thread) => searchFor(telling, thread),
  isThere(id, body) {
    const { data } = listed.safeParse(parsePayload(Buffer.from(body)))
    return data?.messages.some(({ files = [] }) => files.some((each) => each.id === id))
  },
}
