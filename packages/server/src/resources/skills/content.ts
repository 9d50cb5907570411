/** The files of a skill's version as one zip archive. */
import { attachment } from '../../ground/http/attachment.ts'
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
    ...attachment(name, 'application/zip'),
    ['etag', `"${row.sha256}"`],
    ['content-length', String(row.size_bytes)],
  ]
  return { reply: 'raw', status: 200, headers, body: await catalog.archive(tenant, row) }
}
