import type { ExpressionBuilder } from 'kysely'
import { minuteMs } from '@steward/base/settings/kinds.ts'
import { iso } from '@steward/base/time.ts'
import { toJson } from '../../../ground/core/text/json-text.ts'
import { newId } from '../../../ground/core/text/ids.ts'
import type { Seal } from '../../../ground/core/security/seal.ts'
import type { Queries, Reads } from '../../../ground/database/database.ts'
import { defineStore } from '../../../ground/database/store-of.ts'
import type { Tables } from '../../../ground/database/tables.ts'
import type { ProviderTokens } from '../../people/identities/at-provider.ts'

export type GrantRow = Tables['provider_grants']
/** A grant belongs to a person, and to no workspace. */
const noTenant = ''

/** How often the provider is asked about a person who is signed in, and about anybody else. */
export const askedMs = 3 * minuteMs
export const askedAwayMs = 60 * minuteMs

export const grantContext = (tenant: string, id: string, name: string): string =>
  `${tenant}/provider_grants/${id}/${name}`

const sealTokens = (seal: Seal, id: string, { access, refresh }: ProviderTokens) =>
  toJson({
    access: seal.seal(access, grantContext(noTenant, id, 'access')),
    ...(refresh !== undefined && {
      refresh: seal.seal(refresh, grantContext(noTenant, id, 'refresh')),
    }),
  })

const signInsOfHolder = (eb: ExpressionBuilder<Tables, 'provider_grants'>, now: number) =>
  eb
    .selectFrom('sign_ins')
    .select('sign_ins.id')
    .whereRef('sign_ins.person_id', '=', 'provider_grants.person_id')
    .where('sign_ins.expires_at', '>', iso(now))

/** A login counts while an access token of it may be valid. */
const loginMs = 60 * minuteMs

/** Clients that are logged in for the person, and were used lately. */
const loginsOfHolder = (eb: ExpressionBuilder<Tables, 'provider_grants'>, now: number) =>
  eb
    .selectFrom('api_keys')
    .select('api_keys.id')
    .whereRef('api_keys.created_by', '=', 'provider_grants.person_id')
    .where('api_keys.kind', '=', 'oauth')
    .where('api_keys.revoked_at', 'is', null)
    .where('api_keys.last_used_at', '>', iso(now - loginMs))

function grantReads(db: Reads) {
  return {
    /** Also of people who have signed in, by whatever way, since their provider was asked last. */
    due: (now: number, limit: number): Promise<GrantRow[]> =>
      db
        .selectFrom('provider_grants')
        .selectAll()
        .where((eb) =>
          eb.or([
            eb('due_ms', '<=', now),
            eb.and([
              eb('due_ms', '>', now + askedMs),
              eb.or([eb.exists(signInsOfHolder(eb, now)), eb.exists(loginsOfHolder(eb, now))]),
            ]),
          ]),
        )
        .orderBy('due_ms')
        .limit(limit)
        .execute(),

    /** The memberships that the provider's groups give the person. */
    membershipsOf: (person: string, provider: string) =>
      db
        .selectFrom('members')
        .select(['tenant_id', 'role'])
        .where('person_id', '=', person)
        .where('provider_id', '=', provider)
        .orderBy('tenant_id')
        .execute(),

    /** Also by a client that is logged in for the person. */
    async isSignedIn(person: string, now: number): Promise<boolean> {
      const login = await db
        .selectFrom('api_keys')
        .select('id')
        .where('created_by', '=', person)
        .where('kind', '=', 'oauth')
        .where('revoked_at', 'is', null)
        .where('last_used_at', '>', iso(now - loginMs))
        .limit(1)
        .executeTakeFirst()
      if (login) return true
      const row = await db
        .selectFrom('sign_ins')
        .select('id')
        .where('person_id', '=', person)
        .where('expires_at', '>', iso(now))
        .limit(1)
        .executeTakeFirst()
      return row !== undefined
    },
  }
}

type Grant = { person: string; provider: string; subject: string; tokens: ProviderTokens }

function grantWrites(db: Queries) {
  return {
    /** A person has one grant at each provider: the newest. */
    async put(seal: Seal, { person, provider, subject, tokens }: Grant, now: number) {
      const kept = await db
        .selectFrom('provider_grants')
        .select('id')
        .where('person_id', '=', person)
        .where('provider_id', '=', provider)
        .executeTakeFirst()
      const id = kept?.id ?? newId('provider_grant')
      const said = {
        subject,
        sealed_tokens: sealTokens(seal, id, tokens),
        confirmed_ms: now,
        due_ms: now + askedMs,
      }
      await db
        .insertInto('provider_grants')
        .values({ tenant_id: noTenant, id, person_id: person, provider_id: provider, ...said })
        .onConflict((conflict) => conflict.columns(['person_id', 'provider_id']).doUpdateSet(said))
        .execute()
    },

    /** Moves the time of the next question. False when another process has done so. */
    async claim({ id, due_ms }: GrantRow, now: number): Promise<boolean> {
      const { numUpdatedRows } = await db
        .updateTable('provider_grants')
        .set({ due_ms: now + minuteMs })
        .where('tenant_id', '=', noTenant)
        .where('id', '=', id)
        .where('due_ms', '=', due_ms)
        .executeTakeFirst()
      return numUpdatedRows === 1n
    },

    /** Keeps renewed tokens. Undefined when the grant was replaced or removed since. */
    renew(
      seal: Seal,
      { id, sealed_tokens }: GrantRow,
      tokens: ProviderTokens,
    ): Promise<GrantRow | undefined> {
      return db
        .updateTable('provider_grants')
        .set({ sealed_tokens: sealTokens(seal, id, tokens) })
        .where('tenant_id', '=', noTenant)
        .where('id', '=', id)
        .where('sealed_tokens', '=', sealed_tokens)
        .returningAll()
        .executeTakeFirst()
    },

    /** Notes that the provider has said the groups. False when the grant was replaced or removed since. */
    async confirm({ id, sealed_tokens }: GrantRow, isSignedIn: boolean, now: number) {
      const { numUpdatedRows } = await db
        .updateTable('provider_grants')
        .set({ confirmed_ms: now, due_ms: now + (isSignedIn ? askedMs : askedAwayMs) })
        .where('tenant_id', '=', noTenant)
        .where('id', '=', id)
        .where('sealed_tokens', '=', sealed_tokens)
        .executeTakeFirst()
      return numUpdatedRows === 1n
    },

    /** False when the person has signed in anew since the grant was read. */
    async remove({ id, sealed_tokens }: GrantRow): Promise<boolean> {
      const { numDeletedRows } = await db
        .deleteFrom('provider_grants')
        .where('tenant_id', '=', noTenant)
        .where('id', '=', id)
        .where('sealed_tokens', '=', sealed_tokens)
        .executeTakeFirst()
      return numDeletedRows === 1n
    },
  }
}

/** What providers have given to learn the groups of people anew, and the memberships of groups; control database. */
export const groupStore = defineStore(grantReads, grantWrites)
