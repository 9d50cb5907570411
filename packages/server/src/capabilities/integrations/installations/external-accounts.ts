/** Installations in the control database: the tenant of each external workspace, and installations that have begun. */
import type { IntegrationId } from '@steward/protocol/integrations.ts'
import type { Queries, Reads } from '../../../ground/database/database.ts'
import { defineStore } from '../../../ground/database/store-of.ts'
import type { Tables } from '../../../ground/database/tables.ts'

type ExternalAccount = Tables['installation_places']
export type InstallState = Tables['install_states']

/** The most begun installations of a tenant. Older ones are forgotten. */
const mostStates = 20

const accountReads = (db: Reads) => ({
  accountOf: (integration: IntegrationId, external: string): Promise<ExternalAccount | undefined> =>
    db
      .selectFrom('installation_places')
      .selectAll()
      .where('integration', '=', integration)
      .where('external_id', '=', external)
      .executeTakeFirst(),

  begun: (id: string): Promise<InstallState | undefined> =>
    db.selectFrom('install_states').selectAll().where('id', '=', id).executeTakeFirst(),
})

/** Matches the id of an installation that is being finished, and no hash of a state. */
const ofFinish = 'inst%'

const accountWrites = (db: Queries) => ({
  /**
   * Claims the external workspace. Returns the other tenant's place when another tenant was first. Locks the place, so
   * that nobody leaves it until the transaction ends.
   */
  claim: (account: ExternalAccount): Promise<ExternalAccount> =>
    db
      .insertInto('installation_places')
      .values(account)
      .onConflict((conflict) =>
        conflict
          .columns(['integration', 'external_id'])
          .doUpdateSet({ external_id: account.external_id }),
      )
      .returningAll()
      .executeTakeFirstOrThrow(),

  /**
   * Notes until when the installation is finished that claims a place. The process that finishes it may end before it
   * stores the installation. Nobody takes the place over before that time.
   */
  async noteFinish(claim: InstallState): Promise<void> {
    const { expires_ms } = claim
    await db
      .insertInto('install_states')
      .values(claim)
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ expires_ms }))
      .execute()
  },
  /** Removes a claim that no process finishes any more. The caller has found that its installation is not there. */
  async removeAbandoned(
    { tenant_id, installation_id }: Pick<ExternalAccount, 'tenant_id' | 'installation_id'>,
    now: number,
  ): Promise<void> {
    const finishing = db
      .selectFrom('install_states')
      .select('id')
      .where('id', '=', installation_id)
      .where('expires_ms', '>', now)
    await db
      .deleteFrom('installation_places')
      .where('tenant_id', '=', tenant_id)
      .where('installation_id', '=', installation_id)
      .where((eb) => eb.not(eb.exists(finishing)))
      .execute()
  },
  async leave(tenant: string, installation: string): Promise<void> {
    await db
      .deleteFrom('installation_places')
      .where('tenant_id', '=', tenant)
      .where('installation_id', '=', installation)
      .execute()
  },
  /** Stores a begun installation. Removes expired ones, and the oldest when the tenant has begun too many. */
  async begin(state: InstallState, now: number): Promise<void> {
    await db.deleteFrom('install_states').where('expires_ms', '<', now).execute()
    await db.insertInto('install_states').values(state).execute()
    const newest = db
      .selectFrom('install_states')
      .select('id')
      .where('tenant_id', '=', state.tenant_id)
      .where('id', 'not like', ofFinish)
      .orderBy('expires_ms', 'desc')
      .orderBy('id')
      .limit(mostStates)
    await db
      .deleteFrom('install_states')
      .where('tenant_id', '=', state.tenant_id)
      .where('id', 'not like', ofFinish)
      .where('id', 'not in', newest)
      .execute()
  },
  /** Takes a begun installation. Resolves to undefined when it was taken before, or never begun. */
  async removeOne(id: string): Promise<InstallState | undefined> {
    return db.deleteFrom('install_states').where('id', '=', id).returningAll().executeTakeFirst()
  },
})

export const externalAccounts = defineStore(accountReads, accountWrites)
