import type { ExpressionBuilder } from 'kysely'
import type { InvitationShown } from '@steward/protocol/people.ts'
import { iso } from '@steward/base/time.ts'
import { auditChange } from '../../ground/core/security/audited-call.ts'
import { newId } from '../../ground/core/text/ids.ts'
import type { Listing, Paging } from '../../ground/core/text/page.ts'
import { mapListing } from '../../ground/core/text/page.ts'
import { hashToken } from '../../ground/core/security/token.ts'
import type { Queries, Reads } from '../../ground/database/database.ts'
import { readPage, rowWeight } from '../../ground/database/listing.ts'
import { getWorkspaceForShare } from '../../ground/database/lock.ts'
import { defineStore } from '../../ground/database/store-of.ts'
import type { Tables } from '../../ground/database/tables.ts'
import type { Role } from '../../ground/core/security/roles.ts'

export type InvitationRow = Tables['invitations']

/** Stands for a workspace in the invitation of the deployment's first owner. */
export const firstOwner = ''

/** The suffix after the dot in a mailed link is no part of the token. */
const hashOf = (tokenOfLink: string): string => hashToken(tokenOfLink.split('.')[0] ?? '')

export type NewInvitation = {
  email: string | null
  isMailed: boolean
  role: Role
  /** SECRET: never logged. */
  token: string
  invitedBy: string | null
  expiresAt: number
}

/** False for an invitation to a workspace that was archived or deleted since. */
const isOfOpenWorkspace = (eb: ExpressionBuilder<Tables, 'invitations'>) =>
  eb.not(
    eb.exists(
      eb
        .selectFrom('workspaces')
        .select('workspaces.id')
        .whereRef('workspaces.id', '=', 'invitations.tenant_id')
        .where('workspaces.archived_at', 'is not', null),
    ),
  )

function invitationReads(db: Reads) {
  const open = (now: number) =>
    db
      .selectFrom('invitations')
      .selectAll()
      .where('accepted_at', 'is', null)
      .where('expires_at', '>', iso(now))
      .where(isOfOpenWorkspace)
  return {
    async list(tenant: string, paging: Paging): Promise<Listing<InvitationShown>> {
      const rows = db.selectFrom('invitations').selectAll().where('tenant_id', '=', tenant)
      return mapListing(await readPage(tenant, rows, paging, rowWeight('email')), showInvitation)
    },

    get: (tenant: string, id: string): Promise<InvitationRow | undefined> =>
      db
        .selectFrom('invitations')
        .selectAll()
        .where('tenant_id', '=', tenant)
        .where('id', '=', id)
        .executeTakeFirst(),

    /** The newest 1,000 invitations, the newest first. */
    newest: (tenant: string): Promise<InvitationRow[]> =>
      db
        .selectFrom('invitations')
        .selectAll()
        .where('tenant_id', '=', tenant)
        .orderBy('id', 'desc')
        .limit(1_000)
        .execute(),

    /** Across workspaces: the open invitation of this token. */
    byToken: (token: string, now: number): Promise<InvitationRow | undefined> =>
      open(now).where('token_hash', '=', hashOf(token)).executeTakeFirst(),

    /** Across workspaces: the open invitations of this address. */
    ofEmail: (email: string, now: number): Promise<InvitationRow[]> =>
      open(now).where('email', '=', email).execute(),
  }
}

function invitationWrites(db: Queries) {
  return {
    async create(tenant: string, made: NewInvitation, now: number): Promise<InvitationRow> {
      if (tenant !== firstOwner) await getWorkspaceForShare(db, tenant)
      const row: InvitationRow = {
        tenant_id: tenant,
        id: newId('invitation'),
        email: made.email,
        mailed: made.isMailed ? 1 : 0,
        role: made.role,
        token_hash: hashToken(made.token),
        invited_by: made.invitedBy,
        accepted_by: null,
        accepted_at: null,
        expires_at: iso(made.expiresAt),
        created_at: iso(now),
      }
      await db.insertInto('invitations').values(row).execute()
      auditChange({ type: 'invitation', id: row.id, after: showInvitation(row) })
      return row
    },

    /** Marks the invitation as used; undefined for the second caller. */
    async consume(token: string, now: number): Promise<InvitationRow | undefined> {
      return db
        .updateTable('invitations')
        .set({ token_hash: null, accepted_at: iso(now) })
        .where('token_hash', '=', hashOf(token))
        .where('expires_at', '>', iso(now))
        .where(isOfOpenWorkspace)
        .returningAll()
        .executeTakeFirst()
    },

    /** False for an invitation that was withdrawn. */
    async markAccepted(
      { tenant_id, id }: InvitationRow,
      person: string,
      now: number,
    ): Promise<boolean> {
      const { numUpdatedRows } = await db
        .updateTable('invitations')
        .set({ token_hash: null, accepted_at: iso(now), accepted_by: person })
        .where('tenant_id', '=', tenant_id)
        .where('id', '=', id)
        .executeTakeFirst()
      return numUpdatedRows > 0n
    },

    /** Deletes invitations of the person that nobody has accepted. */
    async removeOpenOf(tenant: string, person: string): Promise<void> {
      await db
        .deleteFrom('invitations')
        .where('tenant_id', '=', tenant)
        .where('invited_by', '=', person)
        .where('accepted_at', 'is', null)
        .execute()
    },

    /** Deletes the person's open invitations in all workspaces, and invitations that the person accepted. */
    async forgetPerson(person: string): Promise<void> {
      await db
        .deleteFrom('invitations')
        .where((eb) =>
          eb.or([
            eb.and([eb('invited_by', '=', person), eb('accepted_at', 'is', null)]),
            eb('accepted_by', '=', person),
          ]),
        )
        .execute()
    },

    async remove(tenant: string, id: string): Promise<boolean> {
      const rows = await db
        .deleteFrom('invitations')
        .where('tenant_id', '=', tenant)
        .where('id', '=', id)
        .returning('id')
        .execute()
      return rows.length > 0
    },
  }
}

export const invitationStore = defineStore(invitationReads, invitationWrites)

export const showInvitation = (row: InvitationRow): InvitationShown => ({
  id: row.id,
  type: 'invitation',
  email: row.email,
  role: row.role,
  invited_by: row.invited_by,
  accepted_by: row.accepted_by,
  accepted_at: row.accepted_at,
  expires_at: row.expires_at,
  created_at: row.created_at,
})
