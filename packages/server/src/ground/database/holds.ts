/**
 * Legal holds where rows are removed: nothing that a hold keeps goes, neither by a caller nor by a job. A unit that
 * removes calls `findHold`, `checkNotHeld` or `lockHolds` before it looks at what it removes. A new hold waits for such
 * units, and they see the hold afterwards.
 */
import type { RawBuilder } from 'kysely'
import { sql } from 'kysely'
import { conflict } from '../core/errors.ts'
import type { Queries, Reads } from './database.ts'
import { lockAdvisory, lockAdvisoryShared } from './lock.ts'
import type { Tables } from './tables.ts'

export type HoldRow = Tables['holds']

const lock = 'holds'

/** For units that remove. */
export const lockHolds = (tx: Queries): Promise<void> => lockAdvisoryShared(tx, lock)
/** For a unit that makes a hold: units that remove are over, and later ones see the hold. */
export const lockNewHold = (tx: Queries): Promise<void> => lockAdvisory(tx, lock)

/** SQL: the row's workspace is under a hold. `tenant`: a column of the row. */
export const isWorkspaceHeld = (tenant: string): RawBuilder<boolean> =>
  sql<boolean>`exists (select 1 from holds as hold where hold.tenant_id = ${sql.ref(tenant)}
    and hold.released_at is null and hold.scope = 'workspace')`

/** SQL: the session, its creator or its workspace is under a hold. `session` may be null in a row. */
export const isSessionHeld = (tenant: string, session: string): RawBuilder<boolean> =>
  sql<boolean>`exists (select 1 from holds as hold where hold.tenant_id = ${sql.ref(tenant)}
    and hold.released_at is null and (hold.scope = 'workspace'
      or (hold.scope = 'session' and hold.subject_id = ${sql.ref(session)})
      or (hold.scope = 'person' and hold.subject_id = (select held.creator_id from sessions as held
        where held.tenant_id = ${sql.ref(tenant)} and held.id = ${sql.ref(session)}))))`

/** SQL: the opposite, for conditions. */
export const unless = (held: RawBuilder<boolean>): RawBuilder<boolean> => sql<boolean>`not ${held}`

/** A hold in force on the workspace, or on the session where one is named. */
export async function findHold(
  tx: Queries,
  tenant: string,
  session?: string | null,
): Promise<HoldRow | undefined> {
  await lockHolds(tx)
  return readHold(tx, tenant, session)
}

const readHold = (
  db: Reads,
  tenant: string,
  session: string | null | undefined,
): Promise<HoldRow | undefined> =>
  db
    .selectFrom('holds')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('released_at', 'is', null)
    .where((eb) => {
      const whole = eb('scope', '=', 'workspace')
      if (!session) return whole
      const creator = eb
        .selectFrom('sessions')
        .select('creator_id')
        .where('sessions.tenant_id', '=', tenant)
        .where('sessions.id', '=', session)
      return eb.or([
        whole,
        eb.and([eb('scope', '=', 'session'), eb('subject_id', '=', session)]),
        eb.and([eb('scope', '=', 'person'), eb('subject_id', '=', creator)]),
      ])
    })
    .orderBy('created_at')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()

/** Throws `conflict` for what a hold keeps. `what`: the noun with its id. */
export async function checkNotHeld(
  tx: Queries,
  tenant: string,
  what: string,
  session?: string | null,
): Promise<void> {
  const hold = await findHold(tx, tenant, session)
  if (hold) throw heldConflict(what, hold)
}

/** Names the hold and who can release it. */
export const heldConflict = (what: string, { id, scope, creator_type }: HoldRow) =>
  conflict(
    `${what} is kept by the hold ${id} on ${scopes[scope]}: ${
      creator_type === 'operator'
        ? 'the operator can release it (release-hold)'
        : `an owner or an admin of the workspace can release it (POST /v1/ext/holds/${id}/release)`
    }`,
    'held',
  )

const scopes: Record<HoldRow['scope'], string> = {
  workspace: 'its workspace',
  session: 'its session',
  person: 'a person',
}

/** Refuses to delete a workspace, or a person, that a hold keeps. Runs in the unit of control that deletes. */
export async function checkNoMark(
  tx: Queries,
  what: string,
  of: { tenant: string } | { person: string },
): Promise<void> {
  const marks = tx.selectFrom('hold_marks').select(['hold_id', 'tenant_id']).limit(1)
  const mark = await (
    'tenant' in of
      ? marks.where('tenant_id', '=', of.tenant)
      : marks.where('person_id', '=', of.person)
  ).executeTakeFirst()
  if (mark)
    throw conflict(
      `${what} is kept by the hold ${mark.hold_id} of the workspace ${mark.tenant_id}: an owner or an admin there, or who made it, can release it`,
      'held',
    )
}

/** Throws for a workspace with a hold in force. Call it before the unit of control that deletes the workspace. */
export async function checkNothingHeld(db: Reads, tenant: string): Promise<void> {
  const hold = await db
    .selectFrom('holds')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('released_at', 'is', null)
    .orderBy('created_at')
    .limit(1)
    .executeTakeFirst()
  if (hold) throw heldConflict(`the workspace ${tenant}`, hold)
}
