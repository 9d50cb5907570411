import type { Validation } from '@steward/protocol/credential-validation.ts'
import { ValidationShown } from '@steward/protocol/credential-validation.ts'
import {
  CredentialCreate,
  CredentialShown,
  CredentialUpdate,
  VaultCreate,
  VaultListQuery,
  VaultShown,
  VaultUpdate,
  broughtBy,
} from '@steward/protocol/vaults.ts'
import { invalid } from '../../ground/core/errors.ts'
import { iso } from '@steward/base/time.ts'
import type { Database } from '../../ground/database/database.ts'
import type { Principal } from '../../ground/http/principal.ts'
import { actorOf, isAdmin } from '../../ground/http/principal.ts'
import type { Route } from '../../ground/http/route.ts'
import { section } from '../../ground/http/section.ts'
import type { Ground } from '../../ground/ground.ts'
import type { CredentialRow } from './credentials.ts'
import { credentialRow, credentialStore } from './credentials.ts'
import type { TryReferences } from './admit-references.ts'
import { referenceAdmission } from './admit-references.ts'
import { referencesGiven } from './references.ts'
import { vaultStore } from './store.ts'
import type { VaultWriteContext } from './write.ts'
import * as write from './write.ts'

const vaults = section('Vaults', ['workspace'], '/v1/vaults')
const credentials = section('Vaults', ['workspace'], '/v1/vaults/:id/credentials')

/** Tests an OAuth credential against its server, with a refresh if needed. Failures are values. */
type ValidateCredential = (
  tenant: string,
  credential: CredentialRow,
  signal: AbortSignal,
) => Promise<Validation>

type VaultWriter = { db: Database; tenant: string; principal: Principal }

const writes =
  ({ seal, clock }: Ground) =>
  <T>(
    { db, tenant, principal }: VaultWriter,
    unit: (writing: VaultWriteContext) => Promise<T>,
  ): Promise<T> => {
    const by = { keyId: actorOf(principal), isAdmin: isAdmin(principal) }
    return db.write((tx) => unit({ tx, tenant, seal, ...by, now: clock.now() }))
  }

type VaultDeps = Ground & { validate: ValidateCredential; tryReferences: TryReferences }
export const vaultRoutes = (deps: VaultDeps): Route[] => [
  ...ofVaults(deps),
  ...ofCredentials(deps),
  validation(deps),
]

function ofVaults(deps: VaultDeps): Route[] {
  const writing = writes(deps)
  const admit = referenceAdmission(deps.tryReferences)
  const broughtIn = (body: VaultUpdate) =>
    broughtBy(body).flatMap(({ at, input }) => referencesGiven(input.auth, at))
  return vaults.plain(
    { one: 'a vault', many: 'vaults', item: '/:id', answer: VaultShown },
    {
      create: {
        description: 'Its body may bring credentials.',
        body: VaultCreate,
        async run(call) {
          await admit(call, broughtIn(call.body))
          return writing(call, (at) => write.createVault(at, call.body))
        },
      },
      list: {
        query: VaultListQuery,
        scope: 'vaults',
        rows: ({ db, tenant, query }, paging) =>
          vaultStore(db.read).list(tenant, { paging, archived: query.include_archived ?? false }),
      },
      get: { run: ({ db, tenant, params }) => vaultStore(db.read).get(tenant, params.id) },
      update: {
        description: 'Credentials in the body are written anew.',
        body: VaultUpdate,
        async run(call) {
          const { id } = call.params
          await admit(call, broughtIn(call.body), { vault: id })
          return writing(call, (at) => write.updateVault(at, id, call.body))
        },
      },
      archive: {
        description: 'Its secrets are deleted at once.',
        run: (call) => writing(call, (at) => write.archiveVault(at, call.params.id)),
      },
      delete: {
        description:
          'Removes the vault, its credentials and their secrets. Calls of running sessions carry none of them from now on.',
        summary: 'Delete a vault and all it holds',
        type: 'vault_deleted',
        run: (call) => writing(call, (at) => write.deleteVault(at, call.params.id)),
      },
    },
  )
}

function ofCredentials(deps: VaultDeps): Route[] {
  const writing = writes(deps)
  const admit = referenceAdmission(deps.tryReferences)
  return credentials.plain(
    {
      one: 'a credential',
      many: 'the credentials of a vault',
      item: '/:credential_id',
      answer: CredentialShown,
    },
    {
      create: {
        description: 'No answer contains its secret.',
        body: CredentialCreate,
        async run(call) {
          const { id } = call.params
          await admit(call, referencesGiven(call.body.auth, 'auth'), { vault: id })
          return writing(call, (at) => write.createCredential(at, id, call.body))
        },
      },
      list: {
        query: VaultListQuery,
        scope: ({ id }) => `credentials/${id}`,
        check: ({ db, tenant, params }) => vaultStore(db.read).get(tenant, params.id),
        rows: ({ db, tenant, params, query }, paging) =>
          credentialStore(db.read).list(tenant, params.id, {
            paging,
            archived: query.include_archived ?? false,
          }),
      },
      get: {
        run: ({ db, tenant, params: { id, credential_id } }) =>
          credentialStore(db.read).get(tenant, id, credential_id),
      },
      update: {
        description: 'Also rotates its secret.',
        body: CredentialUpdate,
        async run({ params: { id, credential_id }, body, ...who }) {
          const given = body.auth ? referencesGiven(body.auth, 'auth') : []
          await admit(who, given, { vault: id, credential: credential_id })
          return writing(who, (at) => write.updateCredential(at, id, credential_id, body))
        },
      },
      archive: {
        description: 'Its secret is deleted, and another credential may take its place.',
        run: ({ params: { id, credential_id }, ...who }) =>
          writing(who, (at) => write.archiveCredential(at, id, credential_id)),
      },
      delete: {
        description:
          'Removes the credential and its secret. Calls of running sessions do not carry it from now on.',
        type: 'vault_credential_deleted',
        run: ({ params: { id, credential_id }, ...who }) =>
          writing(who, (at) => write.deleteCredential(at, id, credential_id)),
      },
    },
  )
}

const validation = ({ clock, validate }: Ground & { validate: ValidateCredential }): Route =>
  credentials.post(
    '/:credential_id/mcp_oauth_validate',
    {
      summary: 'Validate an OAuth credential',
      description:
        'Asks the MCP server with the token, and refreshes the token where the server refuses it. The answer says what each of them said.',
      answer: ValidationShown,
    },
    async ({ db, tenant, params: { id, credential_id }, signal }) => {
      const row = credentialRow(await credentialStore(db.read).row(tenant, id, credential_id))
      if (!row) throw invalid(`credential ${credential_id} is archived and cannot be tried`)
      if (row.auth.type !== 'mcp_oauth')
        throw invalid(`credential ${credential_id} is ${row.auth.type}; mcp_oauth alone is tried`)
      return {
        type: 'vault_credential_validation',
        credential_id,
        vault_id: id,
        ...(await validate(tenant, row, signal)),
        validated_at: iso(clock.now()),
      }
    },
  )
