import { iso } from '@steward/base/time.ts'
import type { Queries, Reads } from '../../ground/database/database.ts'
import { defineStore } from '../../ground/database/store-of.ts'
import type { Tables } from '../../ground/database/tables.ts'

export type PersonRemovalRow = Tables['person_removals']

/** Topic that notifies processes of a person whose names are to be removed. */
export const personRemovalsTopic = 'person-removals'

const removalReads = (db: Reads) => ({
  all: (): Promise<PersonRemovalRow[]> =>
    db.selectFrom('person_removals').selectAll().orderBy('asked_at').orderBy('person_id').execute(),
})

function removalWrites(db: Queries) {
  return {
    /** Call it in the unit that deletes the person. */
    async ask(person: string, now: number): Promise<void> {
      await db
        .insertInto('person_removals')
        .values({ person_id: person, after_tenant: '', changed: 0, asked_at: iso(now) })
        .onConflict((on) => on.column('person_id').doNothing())
        .execute()
      db.afterCommit({ topic: personRemovalsTopic, message: {} })
    },

    /** Workspaces up to `tenant` are done. A peer may be further already. */
    async passed(person: string, tenant: string, changed: number): Promise<void> {
      await db
        .updateTable('person_removals')
        .set((eb) => ({ after_tenant: tenant, changed: eb('changed', '+', changed) }))
        .where('person_id', '=', person)
        .where('after_tenant', '<', tenant)
        .execute()
    },

    /** Undefined where a peer has ended it. */
    end: (person: string): Promise<PersonRemovalRow | undefined> =>
      db
        .deleteFrom('person_removals')
        .where('person_id', '=', person)
        .returningAll()
        .executeTakeFirst(),
  }
}

/** Deleted people whose names are still in rows of workspaces; rows of the control database. */
export const personRemovalStore = defineStore(removalReads, removalWrites)
