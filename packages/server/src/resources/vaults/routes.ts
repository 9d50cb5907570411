import { Deleted, ListOf } from '@steward/protocol/primitives.ts'
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
} from '@steward/protocol/vaults.ts'
import { invalid } from '../../ground/core/errors.ts'
import { pageOf, paging } from '../../ground/core/page.ts'
import type { Seal } from '../../ground/core/seal.ts'
import type { Clock } from '@steward/base/time.ts'
import { iso } from '@steward/base/time.ts'
import type { Database } from '../../ground/database/database.ts'
import type { Principal } from '../../ground/http/principal.ts'
import { isAdmin } from '../../ground/http/principal.ts'
import type { Route } from '../../ground/http/route.ts'
import { also, route } from '../../ground/http/route.ts'
import type { CredentialRow } from './credentials.ts'
import { credentialRow, credentialStore } from './credentials.ts'
import { vaultStore } from './store.ts'
import type { VaultWriteContext } from './write.ts'
import * as write from './write.ts'

const callers = ['workspace'] as const
const section = 'Vaults'

/** Tries an OAuth credential against its server, and its refresh where that is needed. What it finds is a value. */
type Validate = (
  tenant: string,
  credential: CredentialRow,
  signal: AbortSignal,
) => Promise<Validation>

type Deps = { seal: Seal; clock: Clock }
type Who = { db: Database; tenant: string; principal: Principal }

const writes =
  ({ seal, clock }: Deps) =>
  <T>(
    { db, tenant, principal }: Who,
    unit: (writing: VaultWriteContext) => Promise<T>,
  ): Promise<T> => {
    const keyId = principal.kind === 'workspace' ? principal.keyId : ''
    const by = { keyId, isAdmin: isAdmin(principal) }
    return db.write((tx) => unit({ tx, tenant, seal, ...by, now: clock.now() }))
  }

export const vaultRoutes = (deps: Deps & { validate: Validate }): Route[] => [
  ...ofVaults(deps),
  ...ofCredentials(deps),
  validation(deps),
]

const validation = ({ clock, validate }: Deps & { validate: Validate }): Route =>
  route(
    {
      method: 'post',
      path: '/v1/vaults/:id/credentials/:credential_id/mcp_oauth_validate',
      callers,
      section,
      summary: 'Validate an OAuth credential',
      answer: ValidationShown,
    },
    async ({ db, tenant, params: { id, credential_id }, signal }) => {
      const found = await credentialStore(db.read).row(tenant, id, credential_id)
      const row = credentialRow(found)
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

function ofVaults(deps: Deps): Route[] {
  const writing = writes(deps)
  const answer = VaultShown
  const update = route(
    {
      method: 'post',
      path: '/v1/vaults/:id',
      callers,
      section,
      summary: 'Update a vault',
      description: 'Credentials in the body are written anew.',
      body: VaultUpdate,
      answer,
    },
    async ({ params, body, ...who }) =>
      writing(who, (at) => write.updateVault(at, params.id, body)),
  )
  return [
    route(
      {
        method: 'post',
        path: '/v1/vaults',
        callers,
        section,
        summary: 'Create a vault',
        description: 'Its body may bring credentials.',
        body: VaultCreate,
        answer,
      },
      async ({ body, ...who }) => writing(who, (at) => write.createVault(at, body)),
    ),
    route(
      {
        method: 'get',
        path: '/v1/vaults',
        callers,
        section,
        summary: 'List vaults',
        query: VaultListQuery,
        answer: ListOf(answer),
      },
      async ({ db, tenant, query }) => {
        const page = paging('vaults', query)
        const archived = query.include_archived ?? false
        const store = vaultStore(db.read)
        const rows = await store.list(tenant, { paging: page, archived })
        return pageOf('vaults', page, rows, (vault) => vault)
      },
    ),
    route(
      { method: 'get', path: '/v1/vaults/:id', callers, section, summary: 'Get a vault', answer },
      async ({ db, tenant, params }) => vaultStore(db.read).get(tenant, params.id),
    ),
    update,
    also(update, { method: 'patch' }),
    route(
      {
        method: 'post',
        path: '/v1/vaults/:id/archive',
        callers,
        section,
        summary: 'Archive a vault',
        description: 'Its secrets are deleted at once.',
        answer,
      },
      async ({ params, ...who }) => writing(who, (at) => write.archiveVault(at, params.id)),
    ),
    route(
      {
        method: 'delete',
        path: '/v1/vaults/:id',
        callers,
        section,
        summary: 'Delete a vault and all it holds',
        answer: Deleted('vault_deleted'),
      },
      async ({ params, ...who }) => {
        await writing(who, (at) => write.deleteVault(at, params.id))
        return { id: params.id, type: 'vault_deleted' }
      },
    ),
  ]
}

function ofCredentials(deps: Deps): Route[] {
  const writing = writes(deps)
  const answer = CredentialShown
  const path = '/v1/vaults/:id/credentials/:credential_id' as const
  const update = route(
    {
      method: 'post',
      path,
      callers,
      section,
      summary: 'Update a credential',
      description: 'Also rotates its secret.',
      body: CredentialUpdate,
      answer,
    },
    async ({ params: { id, credential_id }, body, ...who }) =>
      writing(who, (at) => write.updateCredential(at, id, credential_id, body)),
  )
  return [
    route(
      {
        method: 'post',
        path: '/v1/vaults/:id/credentials',
        callers,
        section,
        summary: 'Create a credential',
        description: 'No answer contains its secret.',
        body: CredentialCreate,
        answer,
      },
      async ({ params, body, ...who }) =>
        writing(who, (at) => write.createCredential(at, params.id, body)),
    ),
    route(
      {
        method: 'get',
        path: '/v1/vaults/:id/credentials',
        callers,
        section,
        summary: 'List the credentials of a vault',
        query: VaultListQuery,
        answer: ListOf(answer),
      },
      async ({ db, tenant, params: { id }, query }) => {
        const { read } = db
        await vaultStore(read).get(tenant, id)
        const scope = `credentials/${id}`
        const page = paging(scope, query)
        const archived = query.include_archived ?? false
        const rows = await credentialStore(read).list(tenant, id, { paging: page, archived })
        return pageOf(scope, page, rows, (credential) => credential)
      },
    ),
    route(
      { method: 'get', path, callers, section, summary: 'Get a credential', answer },
      async ({ db, tenant, params: { id, credential_id } }) =>
        credentialStore(db.read).get(tenant, id, credential_id),
    ),
    update,
    also(update, { method: 'patch' }),
    route(
      {
        method: 'post',
        path: `${path}/archive`,
        callers,
        section,
        summary: 'Archive a credential',
        description: 'Its secret is deleted, and another credential may take its place.',
        answer,
      },
      async ({ params: { id, credential_id }, ...who }) =>
        writing(who, (at) => write.archiveCredential(at, id, credential_id)),
    ),
    route(
      {
        method: 'delete',
        path,
        callers,
        section,
        summary: 'Delete a credential',
        answer: Deleted('vault_credential_deleted'),
      },
      async ({ params: { id, credential_id }, ...who }) => {
        await writing(who, (at) => write.deleteCredential(at, id, credential_id))
        return { id: credential_id, type: 'vault_credential_deleted' }
      },
    ),
  ]
}
