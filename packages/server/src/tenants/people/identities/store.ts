import { iso } from '@steward/base/time.ts'
import { dayMs, minuteMs } from '@steward/base/settings/kinds.ts'
import type { Queries, Reads } from '../../../ground/database/database.ts'
import { defineStore } from '../../../ground/database/store-of.ts'
import type { Tables } from '../../../ground/database/tables.ts'
import { newId } from '../../../ground/core/text/ids.ts'

type SubjectRow = Tables['subjects']
type SubjectFacts = Pick<
  SubjectRow,
  'issuer' | 'subject' | 'provider_id' | 'kind' | 'name' | 'email'
>

/** Subjects that nobody has seen for this long are forgotten. */
const forgottenMs = 400 * dayMs
/** Age of `seen_ms` at which it is written anew. */
const seenMs = 10 * minuteMs

function identityReads(db: Reads) {
  return {
    subject: (issuer: string, subject: string): Promise<SubjectRow | undefined> =>
      db
        .selectFrom('subjects')
        .selectAll()
        .where('issuer', '=', issuer)
        .where('subject', '=', subject)
        .executeTakeFirst(),

    subjectById: (id: string): Promise<SubjectRow | undefined> =>
      db.selectFrom('subjects').selectAll().where('id', '=', id).executeTakeFirst(),

    /** Workspaces that are not deleted and have one of these texts as id or name, oldest first. */
    workspaces: (idsOrNames: readonly string[]) =>
      db
        .selectFrom('workspaces')
        .select(['id', 'name', 'archived_at'])
        .where('deleted_at', 'is', null)
        .where((eb) => eb.or([eb('id', 'in', idsOrNames), eb('name', 'in', idsOrNames)]))
        .orderBy('id')
        .execute(),

    workspace: (id: string) =>
      db
        .selectFrom('workspaces')
        .select(['id', 'name', 'archived_at'])
        .where('deleted_at', 'is', null)
        .where('id', '=', id)
        .executeTakeFirst(),
  }
}

/** True when the row says what the token says, and its subject was seen not long ago. */
export const isCurrentSubject = (row: SubjectRow, facts: SubjectFacts, now: number): boolean =>
  now - Number(row.seen_ms) < seenMs &&
  (['provider_id', 'kind', 'name', 'email'] as const).every((field) => row[field] === facts[field])

function identityWrites(db: Queries) {
  return {
    /** Writes what is known of a subject. Returns its id, which never changes. */
    async noteSubject(facts: SubjectFacts, now: number): Promise<string> {
      const { provider_id, kind, name, email } = facts
      const row = await db
        .insertInto('subjects')
        .values({ ...facts, id: newId('subject'), seen_ms: now, created_at: iso(now) })
        .onConflict((conflict) =>
          conflict
            .columns(['issuer', 'subject'])
            .doUpdateSet({ provider_id, kind, name, email, seen_ms: now }),
        )
        .returning('id')
        .executeTakeFirstOrThrow()
      return row.id
    },

    /** Who comes again with a token gets a new id. */
    async forgetSubject(id: string): Promise<void> {
      await db.deleteFrom('subjects').where('id', '=', id).execute()
    },

    async forgetUnseen(now: number): Promise<void> {
      await db
        .deleteFrom('subjects')
        .where('seen_ms', '<', now - forgottenMs)
        .execute()
    },
  }
}

/** Subjects of identity providers, and the workspaces that rules name; rows of the control database. */
export const identityStore = defineStore(identityReads, identityWrites)
