import { iso } from '@steward/base/time.ts'
import type { Me } from '@steward/protocol/people.ts'
import type { Queries, Reads } from '../../ground/database/database.ts'
import type { SlotFor } from '../../ground/database/statement.ts'
import { selectStatement } from '../../ground/database/statement.ts'
import { forUpdate } from '../../ground/database/lock.ts'
import { defineStore } from '../../ground/database/store-of.ts'
import type { Tables } from '../../ground/database/tables.ts'
import type { Role } from '../../ground/core/security/roles.ts'
import { auditChange } from '../../ground/core/security/audited-call.ts'
import { newId } from '../../ground/core/text/ids.ts'
import { auditEndOfSignIns, auditNewPerson, auditPassword, auditSignIn } from './audit-lines.ts'

type PersonRow = Tables['people']

/** One row for each workspace of the person; one row without a workspace for a person who has none. */
const signInByHash = selectStatement((db, slot: SlotFor<string>) =>
  db
    .selectFrom('sign_ins')
    .innerJoin('people', 'people.id', 'sign_ins.person_id')
    .leftJoin('members', 'members.person_id', 'people.id')
    .leftJoin('workspaces', (join) =>
      join.onRef('workspaces.id', '=', 'members.tenant_id').on('workspaces.deleted_at', 'is', null),
    )
    .select([
      'sign_ins.id',
      'sign_ins.person_id',
      'sign_ins.expires_at',
      'sign_ins.workspace_id as chosen',
      'sign_ins.provider_id',
      'people.email',
      'people.name',
      'people.operator',
      'workspaces.id as workspace_id',
      'workspaces.name as workspace_name',
      'workspaces.archived_at',
      'members.role',
    ])
    .where(
      'sign_ins.token_hash',
      '=',
      slot((hash) => hash),
    )
    .orderBy('members.created_at')
    .orderBy('members.tenant_id'),
)

function peopleReads(db: Reads) {
  return {
    /** The sign-in of the token's hash, one row for each workspace of its person. */
    signInRows: (hash: string) => signInByHash(db, hash),

    byEmail: (email: string): Promise<PersonRow | undefined> =>
      db.selectFrom('people').selectAll().where('email', '=', email).executeTakeFirst(),

    async shown(id: string): Promise<NonNullable<Me['user']> | null> {
      const row = db.selectFrom('people').select(['id', 'email', 'name']).where('id', '=', id)
      const person = await row.executeTakeFirst()
      return person ? { type: 'user', ...person } : null
    },

    /** The addresses from which the person with this email or id is signed in, the newest 100. */
    async addressesOf(account: string): Promise<string[]> {
      const rows = await db
        .selectFrom('sign_ins')
        .innerJoin('people', 'people.id', 'sign_ins.person_id')
        .select('sign_ins.ip_address')
        .where((eb) => eb.or([eb('people.id', '=', account), eb('people.email', '=', account)]))
        .orderBy('sign_ins.created_at', 'desc')
        .limit(100)
        .execute()
      return rows.flatMap(({ ip_address: address }) => (address === null ? [] : [address]))
    },

    workspace: (id: string) =>
      db
        .selectFrom('workspaces')
        .select(['id', 'name', 'archived_at'])
        .where('id', '=', id)
        .where('deleted_at', 'is', null)
        .executeTakeFirst(),

    async rolesOf(person: string): Promise<Map<string, Role>> {
      const rows = await db
        .selectFrom('members')
        .select(['tenant_id', 'role'])
        .where('person_id', '=', person)
        .execute()
      return new Map(rows.map(({ tenant_id: id, role }) => [id, role]))
    },

    async isOperator(person: string): Promise<boolean> {
      const row = await db
        .selectFrom('people')
        .select('operator')
        .where('id', '=', person)
        .executeTakeFirst()
      return row?.operator === 1
    },

    async isAnybodyThere(): Promise<boolean> {
      const row = await db.selectFrom('people').select('id').limit(1).executeTakeFirst()
      return row !== undefined
    },

    /** The sign-ins among `ids` that are valid now, each with its person. */
    validSignIns: (ids: readonly string[], now: number) =>
      db
        .selectFrom('sign_ins')
        .select(['id', 'person_id'])
        .where('id', 'in', ids)
        .where('expires_at', '>', iso(now))
        .execute(),

    memberships: (people: readonly string[]) =>
      db
        .selectFrom('members')
        .select(['tenant_id', 'person_id'])
        .where('person_id', 'in', people)
        .execute(),

    signInsOf: (person: string, now: number) =>
      db
        .selectFrom('sign_ins')
        .select(['id', 'ip_address', 'user_agent', 'expires_at', 'created_at'])
        .where('person_id', '=', person)
        .where('expires_at', '>', iso(now))
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .execute(),
  }
}

export type NewPerson = Pick<PersonRow, 'email' | 'name'> & {
  isEmailVerified: boolean
  isOperator: boolean
  passwordHash: string
}

function peopleWrites(db: Queries) {
  async function keepPassword(person: string, hash: string, at: string): Promise<void> {
    await db
      .insertInto('sign_in_accounts')
      .values({
        id: newId('sign_in_account'),
        person_id: person,
        provider_id: 'credential',
        account_id: person,
        password_hash: hash,
        created_at: at,
        updated_at: at,
      })
      .onConflict((conflict) =>
        conflict
          .columns(['provider_id', 'account_id'])
          .doUpdateSet({ password_hash: hash, updated_at: at }),
      )
      .execute()
  }

  return {
    /** Creates a person who signs in by password; returns the id. */
    async create(made: NewPerson, now: number): Promise<string> {
      const at = iso(now)
      const id = newId('person')
      await db
        .insertInto('people')
        .values({
          id,
          email: made.email,
          email_verified: made.isEmailVerified ? 1 : 0,
          name: made.name,
          operator: made.isOperator ? 1 : 0,
          created_at: at,
          updated_at: at,
        })
        .execute()
      await keepPassword(id, made.passwordHash, at)
      auditNewPerson(id, { email: made.email, name: made.name })
      return id
    },

    async setPassword(person: string, hash: string, now: number): Promise<void> {
      await keepPassword(person, hash, iso(now))
      await auditPassword(db, person)
    },

    async markOperator(id: string): Promise<void> {
      await db.updateTable('people').set({ operator: 1 }).where('id', '=', id).execute()
    },

    async markVerified(id: string): Promise<void> {
      await db.updateTable('people').set({ email_verified: 1 }).where('id', '=', id).execute()
    },

    async signIn(
      made: Pick<Tables['sign_ins'], 'person_id' | 'token_hash' | 'workspace_id' | 'expires_at'> &
        Pick<Tables['sign_ins'], 'ip_address' | 'user_agent' | 'provider_id'>,
      now: number,
    ): Promise<void> {
      const id = newId('sign_in')
      await db
        .insertInto('sign_ins')
        .values({ ...made, id, created_at: iso(now), updated_at: iso(now) })
        .execute()
      await auditSignIn(db, id, made.person_id)
    },

    /** Notes by which identity provider the person has signed in. */
    async noteProvider(tokenHash: string, provider: string): Promise<void> {
      await db
        .updateTable('sign_ins')
        .set({ provider_id: provider })
        .where('token_hash', '=', tokenHash)
        .execute()
    },

    /** Ends what the person has signed in to by the provider. */
    async endAtProvider(person: string, provider: string): Promise<void> {
      const rows = await db
        .deleteFrom('sign_ins')
        .where('person_id', '=', person)
        .where('provider_id', '=', provider)
        .returning('id')
        .execute()
      auditEndOfSignIns(person, rows.length)
    },

    async chooseWorkspace(signIn: string, workspace: string): Promise<void> {
      await db
        .updateTable('sign_ins')
        .set({ workspace_id: workspace })
        .where('id', '=', signIn)
        .execute()
      const about = { type: 'sign_in', id: signIn, after: { workspace_id: workspace } }
      auditChange({ workspace: '', action: 'sign_in.choose_workspace', ...about })
    },

    /** Ends sign-ins; returns the hashes of their tokens. `except`: the sign-in that stays. */
    async endSignIns(
      person: string,
      { only, except }: { only?: string; except?: string } = {},
    ): Promise<string[]> {
      let query = db.deleteFrom('sign_ins').where('person_id', '=', person)
      if (only !== undefined) query = query.where('id', '=', only)
      if (except !== undefined) query = query.where('id', '<>', except)
      const rows = await query.returning('token_hash').execute()
      auditEndOfSignIns(person, rows.length)
      return rows.map(({ token_hash: hash }) => hash)
    },

    /** Locks the person until the transaction ends. */
    findForUpdate: (id: string): Promise<PersonRow | undefined> =>
      forUpdate(db, db.selectFrom('people').selectAll().where('id', '=', id)).executeTakeFirst(),

    /** Deletes the person with sign-ins, accounts and tokens of providers. Remove the memberships first. */
    async remove(id: string): Promise<void> {
      await db
        .deleteFrom('subjects')
        .where('email', 'in', db.selectFrom('people').select('email').where('id', '=', id))
        .execute()
      for (const table of ['sign_ins', 'sign_in_accounts', 'provider_grants'] as const)
        await db.deleteFrom(table).where('person_id', '=', id).execute()
      await db.deleteFrom('verifications').where('value', '=', id).execute()
      await db.deleteFrom('people').where('id', '=', id).execute()
    },

    /** Deletes expired sign-ins, codes, links and invitations. */
    async removeExpired(now: number): Promise<void> {
      for (const table of ['sign_ins', 'verifications', 'invitations'] as const)
        await db.deleteFrom(table).where('expires_at', '<', iso(now)).execute()
    },
  }
}

/** People and their sign-ins, in the control database. */
export const peopleStore = defineStore(peopleReads, peopleWrites)
