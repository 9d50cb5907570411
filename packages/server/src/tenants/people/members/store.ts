import type { MemberShown } from '@steward/protocol/people.ts'
import { iso } from '@steward/base/time.ts'
import type { Queries, Reads } from '../../../ground/database/database.ts'
import {
  getPersonForShare,
  getWorkspaceForShare,
  forUpdate,
} from '../../../ground/database/lock.ts'
import { defineStore } from '../../../ground/database/store-of.ts'
import type { Role } from '../../../ground/core/security/roles.ts'

const msOf = (ms: number | null | undefined): number | null =>
  ms === null || ms === undefined ? null : Number(ms)

const shownMember = ({
  identity_provider = null,
  ...row
}: Omit<MemberShown, 'type' | 'identity_provider'> & {
  identity_provider?: string | null
}): MemberShown => ({ type: 'member', ...row, identity_provider })

function memberReads(db: Reads) {
  const shown = (tenant: string) =>
    db
      .selectFrom('members')
      .innerJoin('people', 'people.id', 'members.person_id')
      .select(['people.id', 'people.email', 'people.name', 'members.role', 'members.created_at'])
      .select('members.provider_id as identity_provider')
      .where('members.tenant_id', '=', tenant)
  return {
    async list(tenant: string): Promise<MemberShown[]> {
      const rows = await shown(tenant)
        .orderBy('members.created_at')
        .orderBy('members.person_id')
        .execute()
      return rows.map(shownMember)
    },

    async get(tenant: string, person: string): Promise<MemberShown | undefined> {
      const row = await shown(tenant).where('members.person_id', '=', person).executeTakeFirst()
      return row && shownMember(row)
    },

    /** The company's provider whose groups give the membership. Null: people do. */
    async providerOf(tenant: string, person: string): Promise<string | null> {
      const row = await db
        .selectFrom('members')
        .select('provider_id')
        .where('tenant_id', '=', tenant)
        .where('person_id', '=', person)
        .executeTakeFirst()
      return row?.provider_id ?? null
    },

    /** When the person has last looked at the workspace, in milliseconds. Null: never, as far as is known. */
    async lookedAt(tenant: string, person: string): Promise<number | null> {
      const row = await db
        .selectFrom('members')
        .select('looked_ms')
        .where('tenant_id', '=', tenant)
        .where('person_id', '=', person)
        .executeTakeFirst()
      return msOf(row?.looked_ms)
    },
  }
}

function memberWrites(db: Queries) {
  return {
    /**
     * A person who is a member already keeps the present role: false then. `provider`: the company's provider whose
     * groups give the membership; left out, people do.
     */
    async add(
      tenant: string,
      person: string,
      role: Role,
      now: number,
      provider: string | null = null,
    ): Promise<boolean> {
      await getWorkspaceForShare(db, tenant)
      await getPersonForShare(db, person)
      const { numInsertedOrUpdatedRows } = await db
        .insertInto('members')
        .values({
          tenant_id: tenant,
          person_id: person,
          role,
          created_at: iso(now),
          looked_ms: null,
          provider_id: provider,
        })
        .onConflict((conflict) => conflict.columns(['tenant_id', 'person_id']).doNothing())
        .executeTakeFirst()
      return numInsertedOrUpdatedRows === 1n
    },

    /** Locks the members until the transaction ends; returns their roles by person id. */
    async rolesForUpdate(tenant: string): Promise<Map<string, Role>> {
      const members = db
        .selectFrom('members')
        .select(['person_id', 'role'])
        .where('tenant_id', '=', tenant)
        .orderBy('person_id')
      const rows = await forUpdate(db, members).execute()
      return new Map(rows.map(({ person_id: id, role }) => [id, role]))
    },

    async setRole(tenant: string, person: string, role: Role): Promise<void> {
      await db
        .updateTable('members')
        .set({ role })
        .where('tenant_id', '=', tenant)
        .where('person_id', '=', person)
        .execute()
    },

    /** Notes that the person has looked at the workspace; returns when that was before. */
    async looked(tenant: string, person: string, now: number): Promise<number | null> {
      const before = await memberReads(db).lookedAt(tenant, person)
      await db
        .updateTable('members')
        .set({ looked_ms: now })
        .where('tenant_id', '=', tenant)
        .where('person_id', '=', person)
        .execute()
      return before
    },

    /** Removes the person from all workspaces. */
    async removePerson(person: string): Promise<void> {
      await db.deleteFrom('saved_views').where('owner_id', '=', person).execute()
      await db.deleteFrom('members').where('person_id', '=', person).execute()
    },

    /** Removes all members of a deleted workspace. */
    async removeAll(tenant: string): Promise<void> {
      await db.deleteFrom('members').where('tenant_id', '=', tenant).execute()
    },

    async remove(tenant: string, person: string): Promise<void> {
      await db
        .deleteFrom('saved_views')
        .where('tenant_id', '=', tenant)
        .where('owner_id', '=', person)
        .execute()
      await db
        .deleteFrom('members')
        .where('tenant_id', '=', tenant)
        .where('person_id', '=', person)
        .execute()
    },
  }
}

/** Members of workspaces and their roles; rows of the control database. */
export const memberStore = defineStore(memberReads, memberWrites)
