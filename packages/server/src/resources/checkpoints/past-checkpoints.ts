/**
 * Checkpoints of a session by the time of its log: the newest and some before it, so that a fork has the working folder
 * of an earlier time. Several sessions may hold one archive, which is removed when none of them holds it.
 */
import type { CheckpointParts } from '@steward/protocol/checkpoints.ts'
import { looseBlobStore } from '../../ground/blobs/store.ts'
import type { Queries, Reads } from '../../ground/database/database.ts'
import { insertRows } from '../../ground/database/statement.ts'
import { defineStore } from '../../ground/database/store-of.ts'
import type { Tables } from '../../ground/database/tables.ts'
import { toCheckpointColumns } from './columns.ts'

export type PastCheckpoint = Tables['past_checkpoints']

const ofSession = (db: Reads, tenant: string, session: string) =>
  db
    .selectFrom('past_checkpoints')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('session_id', '=', session)

function pastReads(db: Reads) {
  return {
    /** The newest checkpoint from before the event `seq`. */
    before: (tenant: string, session: string, seq: number): Promise<PastCheckpoint | undefined> =>
      ofSession(db, tenant, session)
        .where('seq', '<', seq)
        .orderBy('seq', 'desc')
        .limit(1)
        .executeTakeFirst(),

    /** The events behind which checkpoints are kept, in their order. */
    seqs: async (tenant: string, session: string): Promise<number[]> =>
      (
        await ofSession(db, tenant, session).clearSelect().select('seq').orderBy('seq').execute()
      ).map(({ seq }) => seq),

    /** The earliest checkpoint that is kept. */
    oldest: (tenant: string, session: string): Promise<PastCheckpoint | undefined> =>
      ofSession(db, tenant, session).orderBy('seq').limit(1).executeTakeFirst(),
  }
}

function pastWrites(db: Queries) {
  return {
    /**
     * Records a new checkpoint, behind the newest event of the log. `replaced`: the keys that the checkpoint replaces.
     * Returns the keys that no checkpoint of the session holds any more.
     */
    async add(
      tenant: string,
      session: string,
      made: CheckpointParts,
      { at, most, replaced }: { at: string; most: number; replaced: readonly string[] },
    ): Promise<string[]> {
      const head = await db
        .selectFrom('session_heads')
        .select('next_seq')
        .where('tenant_id', '=', tenant)
        .where('session_id', '=', session)
        .executeTakeFirst()
      const before = await ofSession(db, tenant, session).orderBy('seq', 'desc').execute()
      const seq = head?.next_seq ?? 0
      const others = before.filter((row) => row.seq !== seq)
      const kept = others.slice(0, most)
      const gone = before.filter((row) => !kept.includes(row))
      if (gone.length > 0)
        await db
          .deleteFrom('past_checkpoints')
          .where('tenant_id', '=', tenant)
          .where('session_id', '=', session)
          .where(
            'seq',
            'in',
            gone.map((row) => row.seq),
          )
          .execute()
      const row = {
        tenant_id: tenant,
        session_id: session,
        seq,
        taken_at: at,
        ...toCheckpointColumns(made),
      }
      await insertRows(db, 'past_checkpoints', [row])
      const held = new Set([row, ...kept].flatMap(keysOf))
      return [...replaced, ...gone.flatMap(keysOf)].filter((key) => !held.has(key))
    },

    /** Gives a fork this checkpoint and the earlier ones. `at`: the last event that session and fork share. */
    async give(
      tenant: string,
      { from, to }: { from: string; to: string },
      found: PastCheckpoint,
      at: number,
    ): Promise<void> {
      const seq = Math.min(found.seq, at)
      const before = await ofSession(db, tenant, from).where('seq', '<', seq).execute()
      const rows = [...before, { ...found, seq }].map((row) => ({ ...row, session_id: to }))
      await insertRows(db, 'past_checkpoints', rows)
    },

    /** Removes the rows of a session and marks their archives for removal. */
    async remove(tenant: string, session: string, now: number): Promise<void> {
      const rows = await ofSession(db, tenant, session).execute()
      if (rows.length === 0) return
      await db
        .deleteFrom('past_checkpoints')
        .where('tenant_id', '=', tenant)
        .where('session_id', '=', session)
        .execute()
      await markAll(db, tenant, rows.flatMap(keysOf), now)
    },
  }
}

export const pastStore = defineStore(pastReads, pastWrites)

const keysOf = ({ base_key, delta_key }: PastCheckpoint) => [
  base_key,
  ...(delta_key === null ? [] : [delta_key]),
]

/**
 * Marks the archives for removal. An archive that another session holds stays, because the job asks for holders first.
 */
export async function markAll(
  tx: Queries,
  tenant: string,
  keys: readonly string[],
  now: number,
): Promise<void> {
  for (const key of new Set(keys)) await looseBlobStore(tx).mark(tenant, key, now)
}
