/**
 * Makes and releases holds. The row with the tenant keeps what the tenant has; the mark in control keeps the workspace
 * and the account of a person. The row comes first and is released first, so that after a crash between the two nothing
 * goes that a hold keeps: a deletion of the workspace reads both, and releasing once more removes a mark that was left.
 */
import type { HoldScope } from '@steward/protocol/holds.ts'
import { forbidden, notFound } from '../../../ground/core/errors.ts'
import type { OpenDatabases } from '../../../ground/database/database.ts'
import type { HoldRow } from '../../../ground/database/holds.ts'
import { lockNewHold } from '../../../ground/database/holds.ts'
import { getPersonForShare, getWorkspaceForShare } from '../../../ground/database/lock.ts'
import type { Clock } from '@steward/base/time.ts'
import { peopleStore } from '../../people/store.ts'
import { holdMarks, holdStore } from './store.ts'

type HoldDeps = { databases: OpenDatabases; clock: Clock }

export async function makeHold(
  { databases, clock }: HoldDeps,
  tenant: string,
  made: { scope: HoldScope; reason: string },
): Promise<HoldRow> {
  const { scope } = made
  const { control } = databases
  const db = await databases.open(tenant)
  if (scope.type === 'person') await checkPerson(databases, tenant, scope.person_id)
  const row = await db.write(async (tx) => {
    // Removals that are under way have ended, and later ones see this hold. No other row is locked meanwhile.
    await lockNewHold(tx)
    if (scope.type === 'session' && !(await holdStore(tx).hasSession(tenant, scope.session_id)))
      throw notFound('session', scope.session_id)
    return holdStore(tx).insert(tenant, made, clock.now())
  })
  await control.write(async (tx) => {
    await getWorkspaceForShare(tx, tenant)
    const person = scope.type === 'person' ? scope.person_id : null
    if (person !== null) await getPersonForShare(tx, person)
    await holdMarks(tx).add(tenant, row.id, person)
  })
  return row
}

/** Attack: an admin could keep the account of a person of another workspace from its deletion. */
async function checkPerson(databases: OpenDatabases, tenant: string, person: string) {
  const roles = await peopleStore(databases.control.read).rolesOf(person)
  if (roles.has(tenant)) return
  const { read } = await databases.open(tenant)
  if (!(await holdStore(read).hasMadeSessions(tenant, person))) throw notFound('person', person)
}

/** Releases the hold; once more changes nothing. `isOperator`: for holds that the operator has made. */
export async function releaseHold(
  { databases, clock }: HoldDeps,
  tenant: string,
  id: string,
  isOperator = false,
): Promise<HoldRow> {
  const db = await databases.open(tenant)
  const row = await db.write(async (tx) => {
    const { creator_type: madeBy } = await holdStore(tx).get(tenant, id)
    if (madeBy === 'operator' && !isOperator)
      throw forbidden(`the operator has made the hold ${id}, and alone releases it (release-hold)`)
    await holdStore(tx).release(tenant, id, clock.now())
    return holdStore(tx).get(tenant, id)
  })
  await databases.control.write((tx) => holdMarks(tx).remove(tenant, id))
  return row
}
