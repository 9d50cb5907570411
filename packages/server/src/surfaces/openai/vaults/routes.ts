import type { Credential, Vault } from '@steward/protocol/vaults.ts'
import { OpenAIDeleted, OpenAIListOf, readMetadataFilter } from '@steward/protocol/openai/lists.ts'
import type { OpenAICredential, OpenAIVault } from '@steward/protocol/openai/vaults.ts'
import {
  OpenAICredentialCreate,
  OpenAICredentialShown,
  OpenAICredentialUpdate,
  OpenAIVaultCreate,
  OpenAIVaultListQuery,
  OpenAIVaultShown,
  OpenAIVaultUpdate,
} from '@steward/protocol/openai/vaults.ts'
import type { Database } from '../../../ground/database/database.ts'
import type { ListFilter } from '../../../ground/database/rows.ts'
import { actorOf, isAdmin } from '../../../ground/http/principal.ts'
import type { Principal } from '../../../ground/http/principal.ts'
import type { Route } from '../../../ground/http/route.ts'
import { section } from '../../../ground/http/section.ts'
import type { Ground } from '../../../ground/ground.ts'
import { credentialStore } from '../../../resources/vaults/credentials.ts'
import type { TryReferences } from '../../../resources/vaults/admit-references.ts'
import { referenceAdmission } from '../../../resources/vaults/admit-references.ts'
import { referencesGiven } from '../../../resources/vaults/references.ts'
import { vaultStore } from '../../../resources/vaults/store.ts'
import type { VaultWriteContext } from '../../../resources/vaults/write.ts'
import * as write from '../../../resources/vaults/write.ts'
import { replacementPatch } from '../agents/agent.ts'
import { showOpenAIList, resolvePaging, unixSeconds } from '../page.ts'
import { rows } from '../../../ground/database/rows.ts'

const vaults = section('The OpenAI surface', ['workspace'], '/openai/v1/vaults')
const credentials = section(
  'The OpenAI surface',
  ['workspace'],
  '/openai/v1/vaults/:id/credentials',
)

/** Every vault has a name in this service; the wire shows this name as null. */
const unnamed = 'Unnamed vault'

const showVault = ({ id, name, metadata, created_at }: Vault): OpenAIVault => ({
  id,
  object: 'vault',
  name: name === unnamed ? null : name,
  metadata,
  created_at: unixSeconds(created_at),
})

const showCredential = (credential: Credential): OpenAICredential => ({
  id: credential.id,
  object: 'vault.credential',
  vault_id: credential.vault_id,
  name: credential.display_name ?? '',
  metadata: credential.metadata,
  auth: showAuth(credential.auth),
  created_at: unixSeconds(credential.created_at),
  updated_at: unixSeconds(credential.updated_at),
})

function showAuth(auth: Credential['auth']): OpenAICredential['auth'] {
  if (auth.type !== 'environment_variable') return { ...auth }
  const { injection_location: _location, ...shown } = auth
  return shown
}

/** Without a status, vaults of both states are listed. */
function archivedOf(status: string | string[] | undefined): NonNullable<ListFilter['archived']> {
  const names = [status ?? []].flat()
  if (names.length === 0 || (names.includes('active') && names.includes('archived'))) return true
  return names.includes('archived') ? 'only' : false
}

type VaultCaller = { db: Database; tenant: string; principal: Principal }

const writes =
  ({ seal, clock }: Ground) =>
  <T>(
    { db, tenant, principal }: VaultCaller,
    unit: (writing: VaultWriteContext) => Promise<T>,
  ): Promise<T> => {
    const by = { keyId: actorOf(principal), isAdmin: isAdmin(principal) }
    return db.write((tx) => unit({ tx, tenant, seal, ...by, now: clock.now() }))
  }

type OpenAIVaultDeps = Ground & { tryReferences: TryReferences }

export const vaultRoutes = (deps: OpenAIVaultDeps): Route[] => [
  ...ofVaults(deps),
  ...ofCredentials(deps),
]

function ofVaults(deps: Ground): Route[] {
  const writing = writes(deps)
  const answer = OpenAIVaultShown
  return [
    vaults.post(
      '',
      {
        summary: 'Create a vault',
        description: 'It holds no credential yet. A vault may have no name.',
        body: OpenAIVaultCreate,
        answer,
      },
      async (call) => {
        const { name, metadata } = call.body
        const input = { name: name ?? unnamed, metadata: metadata ?? {} }
        return showVault(await writing(call, (at) => write.createVault(at, input)))
      },
    ),
    vaults.get(
      '',
      { summary: 'List vaults', query: OpenAIVaultListQuery, answer: OpenAIListOf(answer) },
      async ({ db, tenant, query }) => {
        const store = vaultStore(db.read)
        const paging = await resolvePaging(query, (id) => store.get(tenant, id))
        const filter = { archived: archivedOf(query.status), metadata: readMetadataFilter(query) }
        return showOpenAIList(await store.list(tenant, { paging, ...filter }), showVault)
      },
    ),
    vaults.get('/:id', { summary: 'Get a vault', answer }, async ({ db, tenant, params }) =>
      showVault(await vaultStore(db.read).get(tenant, params.id)),
    ),
    vaults.post(
      '/:id',
      {
        summary: 'Update a vault',
        description: '`metadata` is replaced as a whole.',
        body: OpenAIVaultUpdate,
        answer,
      },
      async (call) => {
        const { params, body } = call
        const { name, metadata } = body
        const vault = await writing(call, async (at) => {
          const kept = await rows(at.tx, 'vaults').getForUpdate(at.tenant, params.id)
          return write.updateVault(at, params.id, {
            ...(name === undefined ? {} : { name: name ?? unnamed }),
            ...(metadata && { metadata: replacementPatch(kept.metadata, metadata) }),
          })
        })
        return showVault(vault)
      },
    ),
    vaults.delete(
      '/:id',
      {
        summary: 'Delete a vault and all it holds',
        description: 'Removes the vault, its credentials and their secrets.',
        answer: OpenAIDeleted('vault.deleted'),
      },
      async (call) => {
        await writing(call, (at) => write.deleteVault(at, call.params.id))
        return { id: call.params.id, deleted: true, object: 'vault.deleted' }
      },
    ),
  ]
}

function ofCredentials(deps: OpenAIVaultDeps): Route[] {
  const writing = writes(deps)
  const admit = referenceAdmission(deps.tryReferences)
  const answer = OpenAICredentialShown
  return [
    credentials.post(
      '',
      {
        summary: 'Create a credential',
        description: 'No answer contains its secret.',
        body: OpenAICredentialCreate,
        answer,
      },
      async (call) => {
        const { name: display_name, auth, metadata } = call.body
        const input = { display_name, auth, metadata: metadata ?? {} }
        await admit(call, referencesGiven(auth, 'auth'), { vault: call.params.id })
        return showCredential(
          await writing(call, (at) => write.createCredential(at, call.params.id, input)),
        )
      },
    ),
    credentials.get(
      '',
      {
        summary: 'List the credentials of a vault',
        query: OpenAIVaultListQuery,
        answer: OpenAIListOf(answer),
      },
      async ({ db, tenant, params: { id }, query }) => {
        await vaultStore(db.read).get(tenant, id)
        const store = credentialStore(db.read)
        const paging = await resolvePaging(query, (each) => store.get(tenant, id, each))
        const filter = { archived: archivedOf(query.status), metadata: readMetadataFilter(query) }
        return showOpenAIList(await store.list(tenant, id, { paging, ...filter }), showCredential)
      },
    ),
    credentials.get(
      '/:credential_id',
      { summary: 'Get a credential', answer },
      async ({ db, tenant, params: { id, credential_id } }) =>
        showCredential(await credentialStore(db.read).get(tenant, id, credential_id)),
    ),
    credentials.post(
      '/:credential_id',
      {
        summary: 'Update a credential',
        description: 'Also rotates its secret.',
        body: OpenAICredentialUpdate,
        answer,
      },
      async (call) => {
        const { id, credential_id } = call.params
        const { auth, metadata } = call.body
        const given = auth ? referencesGiven(auth, 'auth') : []
        await admit(call, given, { vault: id, credential: credential_id })
        const credential = await writing(call, async (at) => {
          // The vault is locked first, in the same order as in `updateCredential`.
          await rows(at.tx, 'vaults').getForUpdate(at.tenant, id)
          const kept = await credentialStore(at.tx).getForUpdate(at.tenant, id, credential_id)
          return write.updateCredential(at, id, credential_id, {
            ...(auth && { auth }),
            ...(metadata && { metadata: replacementPatch(kept.metadata, metadata) }),
          })
        })
        return showCredential(credential)
      },
    ),
    credentials.delete(
      '/:credential_id',
      {
        summary: 'Delete a credential',
        description: 'Removes the credential and its secret.',
        answer: OpenAIDeleted('vault.credential.deleted'),
      },
      async (call) => {
        const { id, credential_id } = call.params
        await writing(call, (at) => write.deleteCredential(at, id, credential_id))
        return { id: credential_id, deleted: true, object: 'vault.credential.deleted' }
      },
    ),
  ]
}
