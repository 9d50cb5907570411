/** The files of a skill's version: all as one zip archive, and each by itself. */
import { isUtf8 } from 'node:buffer'
import { Readable } from 'node:stream'
import { notFound } from '../../ground/core/errors.ts'
import { attachmentHeaders } from '../../ground/http/attachment.ts'
import type { RouteReply } from '../../ground/http/reply.ts'
import type { SkillCatalog } from './catalog.ts'
import type { SkillVersionRow } from './store.ts'
import { versionDigits } from './store.ts'

/** What a route of `versionContent` declares. */
export const versionAnswer = { answer: 'bytes', mediaTypes: ['application/zip'] } as const

export async function versionContent(
  catalog: SkillCatalog,
  tenant: string,
  row: SkillVersionRow,
): Promise<RouteReply> {
  const name = `${row.name}-${versionDigits(row.id)}.zip`
  const headers: [string, string][] = [
    ...attachmentHeaders(name, 'application/zip'),
    ['etag', `"${row.sha256}"`],
    ['content-length', String(row.size_bytes)],
  ]
  return { reply: 'raw', status: 200, headers, body: await catalog.archive(tenant, row) }
}

/** What a route of `replyWithSkillFile` declares. */
export const fileAnswer = {
  answer: 'bytes',
  mediaTypes: ['text/plain', 'application/octet-stream'],
} as const

/** `filename`: below the folder of the skill. Whatever is text goes as text. */
export async function replyWithSkillFile(
  catalog: SkillCatalog,
  tenant: string,
  version: SkillVersionRow,
  filename: string,
): Promise<RouteReply> {
  const { skill_id: skill } = version
  if (!version.files.includes(filename)) throw notFound('file', `${skill}/${filename}`)
  const [file] = await catalog.files(tenant, version, (each) => each === filename)
  if (!file) throw new Error(`${filename} is not in the archive of ${skill}/${version.id}`)
  const { bytes } = file
  const isText = isUtf8(bytes) && !bytes.includes(0)
  const type = isText ? 'text/plain; charset=utf-8' : 'application/octet-stream'
  const name = filename.split('/').at(-1) ?? filename
  const size = String(bytes.byteLength)
  const headers: [string, string][] = [...attachmentHeaders(name, type), ['content-length', size]]
  const body = Readable.from([bytes], { objectMode: false })
  return { reply: 'raw', status: 200, headers, body }
}
