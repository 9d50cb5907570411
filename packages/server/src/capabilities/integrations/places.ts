/** What the control database knows of installations: whose they are, and which were begun. */
import type { IntegrationId } from '@steward/protocol/integrations.ts'
import type { Queries, Reads } from '../../ground/database/database.ts'
import { storeOf } from '../../ground/database/store-of.ts'
import type { Tables } from '../../ground/database/tables.ts'

type Place = Tables['installation_places']
export type InstallState = Tables['install_states']

/** Of a workspace that wait for their browsers to come back. */
const mostStates = 20

const placeReads = (db: Reads) => ({
  placeOf: (integration: IntegrationId, external: string): Promise<Place | undefined> =>
    db
      .selectFrom('installation_places')
      .selectAll()
      .where('integration', '=', integration)
      .where('external_id', '=', external)
      .executeTakeFirst(),
})

const placeWrites = (db: Queries) => ({
  /** The place as it is then: another's, where another workspace was first. */
  async claim(place: Place): Promise<Place> {
    await db
      .insertInto('installation_places')
      .values(place)
      .onConflict((conflict) => conflict.columns(['integration', 'external_id']).doNothing())
      .execute()
    return db
      .selectFrom('installation_places')
      .selectAll()
      .where('integration', '=', place.integration)
      .where('external_id', '=', place.external_id)
      .executeTakeFirstOrThrow()
  },
  async leave(tenant: string, installation: string): Promise<void> {
    await db
      .deleteFrom('installation_places')
      .where('tenant_id', '=', tenant)
      .where('installation_id', '=', installation)
      .execute()
  },
  /** Removes those that nobody has come back with, and the oldest where the workspace has begun too many. */
  async begin(state: InstallState, now: number): Promise<void> {
    await db.deleteFrom('install_states').where('expires_ms', '<', now).execute()
    await db.insertInto('install_states').values(state).execute()
    const newest = db
      .selectFrom('install_states')
      .select('id')
      .where('tenant_id', '=', state.tenant_id)
      .orderBy('expires_ms', 'desc')
      .orderBy('id')
      .limit(mostStates)
    await db
      .deleteFrom('install_states')
      .where('tenant_id', '=', state.tenant_id)
      .where('id', 'not in', newest)
      .execute()
  },
  /** Undefined for one that was taken, or never begun. */
  async take(id: string): Promise<InstallState | undefined> {
    return db.deleteFrom('install_states').where('id', '=', id).returningAll().executeTakeFirst()
  },
})

export const placeStore = storeOf(placeReads, placeWrites)
