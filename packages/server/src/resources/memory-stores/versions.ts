import type {
  MemoryActor,
  MemoryOperation,
  MemoryVersion,
} from '@steward/protocol/memory-stores.ts'
import { isIdOf } from '../../ground/core/text/ids.ts'
import { notFound } from '../../ground/core/errors.ts'
import type { Listing, Paging } from '../../ground/core/text/page.ts'
import { iso } from '@steward/base/time.ts'
import type { Queries, Reads } from '../../ground/database/database.ts'
import { defineStore } from '../../ground/database/store-of.ts'
import { readPage, rowWeight } from '../../ground/database/listing.ts'
import type { TimeComparison } from '../../ground/database/page-order.ts'
import type { Tables } from '../../ground/database/tables.ts'
import type { MemoryDetail } from './memories.ts'
import { fromJson, toJson } from '../../ground/core/text/json-text.ts'
import { isSessionHeld, lockHolds, unless } from '../../ground/database/holds.ts'

export type MemoryVersionRow = Tables['memory_versions']
type VersionFacts = Omit<MemoryVersionRow, 'content'>
type VersionFilter = Partial<
  Record<'memory_id' | 'operation' | 'session_id' | 'api_key_id', string | undefined>
>

const facts = [
  'tenant_id',
  'id',
  'store_id',
  'memory_id',
  'operation',
  'path',
  'sha256',
  'size',
  'api_key_id',
  'session_id',
  'redacted_by',
  'redacted_at',
  'expires_at',
  'created_at',
] as const

/** The newest versions of a memory, which are kept at any age. */
const recent = 10
/** Time for which every version of a memory is kept after its creation. */
const keptMs = 30 * 24 * 60 * 60 * 1000

const inStore = (db: Reads, tenant: string, store: string) =>
  db.selectFrom('memory_versions').where('tenant_id', '=', tenant).where('store_id', '=', store)

const ofMemory = (db: Reads, tenant: string, memory: string) =>
  db.selectFrom('memory_versions').where('tenant_id', '=', tenant).where('memory_id', '=', memory)

const change = (db: Queries, tenant: string) =>
  db.updateTable('memory_versions').where('tenant_id', '=', tenant)

function versionReads(db: Reads) {
  return {
    async row(tenant: string, store: string, id: string): Promise<MemoryVersionRow> {
      const row = await inStore(db, tenant, store)
        .selectAll()
        .where('id', '=', id)
        .executeTakeFirst()
      if (!row) throw notFound('memory version', id)
      return row
    },

    /** The newest first unless asked otherwise. Contents only when `view` is `full`. */
    async list(
      tenant: string,
      store: string,
      asked: {
        paging: Paging
        filter: VersionFilter
        made: readonly TimeComparison[]
        view: MemoryDetail
      },
    ): Promise<Listing<VersionFacts & { content?: string | null }>> {
      let rows = inStore(db, tenant, store)
      for (const name of ['memory_id', 'operation', 'session_id', 'api_key_id'] as const) {
        const value = asked.filter[name]
        if (value !== undefined) rows = rows.where(name, '=', value)
      }
      for (const { op, at } of asked.made) rows = rows.where('created_at', op, at)
      return asked.view === 'full'
        ? readPage(tenant, rows.selectAll(), asked.paging, rowWeight('path', 'content'))
        : readPage(tenant, rows.select(facts), asked.paging, rowWeight('path'))
    },
  }
}

function versionWrites(db: Queries) {
  return {
    /** Sets the expiry of all but the ten newest versions of the memory. A deletion sets the expiry of all versions. */
    async insert(row: MemoryVersionRow): Promise<void> {
      await db.insertInto('memory_versions').values(row).execute()
      const { tenant_id, memory_id } = row
      if (row.operation === 'deleted') {
        await change(db, tenant_id)
          .set({ expires_at: iso(Date.parse(row.created_at) + keptMs) })
          .where('memory_id', '=', memory_id)
          .where('expires_at', 'is', null)
          .execute()
        return
      }
      const old = await ofMemory(db, tenant_id, memory_id)
        .select(['id', 'created_at'])
        .orderBy('id', 'desc')
        .offset(recent)
        .limit(1)
        .executeTakeFirst()
      if (!old) return
      await change(db, tenant_id)
        .set({ expires_at: iso(Date.parse(old.created_at) + keptMs) })
        .where('id', '=', old.id)
        .execute()
    },

    async redact(tenant: string, id: string, by: MemoryActor, at: string): Promise<void> {
      await db
        .updateTable('memory_versions')
        .set({
          path: null,
          content: null,
          sha256: null,
          size: null,
          redacted_by: toJson(by),
          redacted_at: at,
        })
        .where('tenant_id', '=', tenant)
        .where('id', '=', id)
        .execute()
    },

    /** Deletes at most `most` expired versions of all tenants. Returns their number. */
    async expire(now: string, most: number): Promise<number> {
      await lockHolds(db)
      const { numDeletedRows } = await db
        .deleteFrom('memory_versions')
        .where('expires_at', '<', now)
        .where('id', 'in', (eb) =>
          eb
            .selectFrom('memory_versions')
            .select('id')
            .where('expires_at', '<', now)
            .where(unless(isSessionHeld('memory_versions.tenant_id', 'memory_versions.session_id')))
            .orderBy('expires_at')
            .limit(most),
        )
        .executeTakeFirst()
      return Number(numDeletedRows)
    },
  }
}

/** Versions of memories. A version never changes, except that it may be redacted. */
export const versionStore = defineStore(versionReads, versionWrites)

export const showVersion = (
  row: VersionFacts & { content?: string | null },
  view: MemoryDetail,
): MemoryVersion => ({
  id: row.id,
  type: 'memory_version',
  memory_id: row.memory_id,
  memory_store_id: row.store_id,
  operation: row.operation as MemoryOperation,
  path: row.path,
  content: view === 'full' ? (row.content ?? null) : null,
  content_sha256: row.sha256,
  content_size_bytes: row.size,
  created_by: actorOf(row),
  redacted_at: row.redacted_at,
  redacted_by: fromJson(row.redacted_by),
  created_at: row.created_at,
})

function actorOf({ session_id, api_key_id: caller }: VersionFacts): MemoryActor {
  if (session_id !== null) return { type: 'session_actor', session_id }
  if (caller !== null && (isIdOf('person', caller) || isIdOf('subject', caller)))
    return { type: 'user_actor', user_id: caller }
  return { type: 'api_actor', api_key_id: caller ?? '' }
}
