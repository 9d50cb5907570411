import type {
  MemoryActor,
  MemoryOperation,
  MemoryVersion,
} from '@steward/protocol/memory-stores.ts'
import { notFound } from '../core/errors.ts'
import type { Paging } from '../core/page.ts'
import type { Queries } from '../database/database.ts'
import type { Moment } from '../database/seek.ts'
import { seek } from '../database/seek.ts'
import type { Tables } from '../database/tables.ts'

export type VersionRow = Tables['memory_versions']
type Filter = Partial<
  Record<'memory_id' | 'operation' | 'session_id' | 'api_key_id', string | undefined>
>

/** Those that are kept of a memory however old they are. */
const recent = 10
const sweepLimit = 500

/** How what lies in a store came to be. A version never changes, but that it may be redacted. */
export function versionStore(db: Queries) {
  const inStore = (tenant: string, store: string) =>
    db
      .selectFrom('memory_versions')
      .selectAll()
      .where('tenant_id', '=', tenant)
      .where('store_id', '=', store)

  return {
    async row(tenant: string, store: string, id: string): Promise<VersionRow> {
      const row = await inStore(tenant, store).where('id', '=', id).executeTakeFirst()
      if (!row) throw notFound('memory version', id)
      return row
    },

    /** Newest first unless asked otherwise. */
    async list(
      tenant: string,
      store: string,
      { paging, filter, made }: { paging: Paging; filter: Filter; made: readonly Moment[] },
    ): Promise<VersionRow[]> {
      const { begins, way } = seek(paging)
      let rows = inStore(tenant, store)
      for (const name of ['memory_id', 'operation', 'session_id', 'api_key_id'] as const) {
        const value = filter[name]
        if (value !== undefined) rows = rows.where(name, '=', value)
      }
      for (const { op, at } of made) rows = rows.where('created_at', op, at)
      return rows
        .where(begins)
        .orderBy('created_at', way)
        .orderBy('id', way)
        .limit(paging.limit + 1)
        .execute()
    },

    async insert(row: VersionRow): Promise<void> {
      await db.insertInto('memory_versions').values(row).execute()
    },

    async redact(tenant: string, id: string, by: MemoryActor, at: string): Promise<void> {
      await db
        .updateTable('memory_versions')
        .set({
          path: null,
          content: null,
          sha256: null,
          size: null,
          redacted_by: JSON.stringify(by),
          redacted_at: at,
        })
        .where('tenant_id', '=', tenant)
        .where('id', '=', id)
        .execute()
    },

    /** Of all tenants, a bounded number at a time: those made before, but the newest of each memory. */
    async expire(before: string): Promise<number> {
      const old = await db
        .selectFrom('memory_versions as old')
        .select(['old.tenant_id', 'old.id'])
        .where('old.created_at', '<', before)
        .where(
          (eb) =>
            eb
              .selectFrom('memory_versions as newer')
              .select(({ fn }) => fn.countAll<number>().as('newer'))
              .whereRef('newer.tenant_id', '=', 'old.tenant_id')
              .whereRef('newer.memory_id', '=', 'old.memory_id')
              .whereRef('newer.id', '>', 'old.id'),
          '>=',
          recent,
        )
        .limit(sweepLimit)
        .execute()
      for (const { tenant_id, id } of old) {
        await db
          .deleteFrom('memory_versions')
          .where('tenant_id', '=', tenant_id)
          .where('id', '=', id)
          .execute()
      }
      return old.length
    },
  }
}

export const showVersion = (row: VersionRow, view: 'basic' | 'full'): MemoryVersion => ({
  id: row.id,
  type: 'memory_version',
  memory_id: row.memory_id,
  memory_store_id: row.store_id,
  operation: row.operation as MemoryOperation,
  path: row.path,
  content: view === 'full' ? row.content : null,
  content_sha256: row.sha256,
  content_size_bytes: row.size,
  created_by: actorOf(row),
  redacted_at: row.redacted_at,
  redacted_by: row.redacted_by === null ? null : (JSON.parse(row.redacted_by) as MemoryActor),
  created_at: row.created_at,
})

const actorOf = ({ session_id, api_key_id }: VersionRow): MemoryActor =>
  session_id === null
    ? { type: 'api_actor', api_key_id: api_key_id ?? '' }
    : { type: 'session_actor', session_id }
