/** Lines of the audit as they are listed and exported. */
import type { AuditLine } from '@steward/protocol/audit.ts'
import { parseObject } from '@steward/base/json-object.ts'
import type { Reads } from '../../ground/database/database.ts'
import type { LineRow } from './store.ts'
import type { ExportedRow } from './trails/store.ts'
import { trailStore } from './trails/store.ts'
import type { ChainHead, Trail } from './trails/trails.ts'
import { canonicalText, noHash } from './trails/trails.ts'

export const shownLine = (row: LineRow): AuditLine => ({
  id: row.id,
  type: 'audit_line',
  workspace_id: row.tenant_id || null,
  action: row.action,
  actor: { type: row.actor_type, id: row.actor_id, name: row.actor_name },
  credential: { type: row.credential_type, id: row.credential_id },
  address: row.address,
  user_agent: row.user_agent,
  request:
    row.request_id === null
      ? null
      : { id: row.request_id, method: row.method ?? '', route: row.route ?? '' },
  resource: { type: row.resource_type, id: row.resource_id, parent_id: row.parent_id },
  before: row.before_fields === null ? null : parseObject(row.before_fields),
  after: row.after_fields === null ? null : parseObject(row.after_fields),
  seq: row.seq,
  hash: row.hash,
  created_at: row.created_at,
})

export type ExportRange = { trail: Trail; from?: string | undefined; to?: string | undefined }

const linesAtOnce = 500

/**
 * Lines of JSON in the order of the chain: the hashed text with its hash. Lines that are not chained yet follow, then
 * lines that were chained during the export. Each line that was committed before the call comes once. Holds one page
 * in memory, and the ids of the unchained lines.
 */
export async function* exportLines(
  db: Reads,
  tenant: string,
  { trail, ...range }: ExportRange,
): AsyncGenerator<string> {
  const store = trailStore(db)
  const head = await store.head(tenant, trail)
  const limit = linesAtOnce
  const text = (rows: readonly ExportedRow[]): string =>
    rows.map((row) => `${exportedLine(trail, tenant, row, head)}\n`).join('')
  let seq = 0
  const loose = new Set<string>()
  async function* chained(): AsyncGenerator<string> {
    for (let isMore = true; isMore;) {
      const rows = await store.exported(tenant, trail, { ...range, after: { seq }, limit })
      const left = rows.filter(({ id }) => !loose.has(id))
      if (left.length > 0) yield text(left)
      seq = Number(rows.at(-1)?.seq ?? seq)
      isMore = rows.length === limit
    }
  }
  yield* chained()
  for (let [after, isMore] = [{ created_at: '', id: '' }, true]; isMore;) {
    const rows = await store.exported(tenant, trail, { ...range, after, limit })
    for (const { id } of rows) loose.add(id)
    if (rows.length > 0) yield text(rows)
    const last = rows.at(-1)
    if (last) after = { created_at: last.created_at, id: last.id }
    isMore = rows.length === limit
  }
  yield* chained()
}

/** A line as JSON, with the hash of the line before it. */
export function exportedLine(
  trail: Trail,
  tenant: string,
  row: ExportedRow,
  head: ChainHead | undefined,
): string {
  const { seq, hash } = row
  if (seq === null || seq <= 0) return JSON.stringify({ ...row, previous: undefined })
  // The first stored line has no predecessor in the table.
  const previous = row.previous ?? head?.first_previous_hash ?? noHash
  const text = canonicalText(trail, tenant, row, { seq, previous })
  return `${text.slice(0, -1)},"hash":${JSON.stringify(hash)}}`
}
