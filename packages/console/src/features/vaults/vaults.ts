/** Vaults and their credentials: what the service tells of them, and what changes them. */
import type { QueryClient } from '@tanstack/react-query'
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import { vaultChoices } from '../../lib/api/choices.ts'
import { api, dataOf } from '../../lib/api/client.ts'
import type {
  CredentialChange,
  CredentialCreateBody,
  CredentialUpdateBody,
  CredentialUse,
  Vault,
  VaultCredential,
} from '../../lib/api/types.ts'
import { pagesQuery } from '../../lib/list-state.ts'

const vaults = ['vaults'] as const

export const vaultsQuery = (withArchived: boolean) =>
  pagesQuery<Vault>([...vaults, 'list', withArchived], (page, signal) =>
    api.GET('/v1/vaults', {
      params: { query: { ...page, ...(withArchived && { include_archived: 'true' as const }) } },
      signal,
    }),
  )

export const vaultQuery = (id: string) =>
  queryOptions({
    queryKey: [...vaults, 'one', id],
    queryFn: ({ signal }) =>
      dataOf(api.GET('/v1/vaults/{id}', { params: { path: { id } }, signal })),
  })

export const credentialsQuery = (id: string, withArchived: boolean) =>
  pagesQuery<VaultCredential>([...vaults, 'credentials', id, withArchived], (page, signal) =>
    api.GET('/v1/vaults/{id}/credentials', {
      params: {
        path: { id },
        query: { ...page, ...(withArchived && { include_archived: 'true' as const }) },
      },
      signal,
    }),
  )

/** The newest calls that carried the credential. */
const usesOf = (credential_id: string, limit: number) =>
  queryOptions({
    queryKey: [...vaults, 'uses', credential_id, limit],
    queryFn: async ({ signal }): Promise<CredentialUse[]> => {
      const query = { credential_id, limit }
      const path = '/v1/ext/audit/credential_uses'
      return (await dataOf(api.GET(path, { params: { query }, signal }))).data
    },
  })

export const lastUseQuery = (credential: string) => usesOf(credential, 1)
export const lastUsesQuery = (credential: string) => usesOf(credential, 8)

/** What was done to the credential, the newest first. */
export const changesQuery = (credential_id: string) =>
  queryOptions({
    queryKey: [...vaults, 'changes', credential_id],
    queryFn: async ({ signal }): Promise<CredentialChange[]> => {
      const query = { credential_id, limit: 8 }
      const path = '/v1/ext/audit/credential_changes'
      return (await dataOf(api.GET(path, { params: { query }, signal }))).data
    },
  })

const renew = (client: QueryClient) => () => {
  void client.invalidateQueries({ queryKey: vaults })
  void client.invalidateQueries(vaultChoices)
}

export function useVaultCreate() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (display_name: string) =>
      dataOf(api.POST('/v1/vaults', { body: { display_name } })),
    onSuccess: renew(client),
  })
}

export function useVaultRename(id: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (display_name: string) =>
      dataOf(api.POST('/v1/vaults/{id}', { params: { path: { id } }, body: { display_name } })),
    onSuccess: renew(client),
  })
}

export function useVaultArchive(id: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: () => dataOf(api.POST('/v1/vaults/{id}/archive', { params: { path: { id } } })),
    onSuccess: renew(client),
  })
}

export function useVaultDelete(id: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: () => dataOf(api.DELETE('/v1/vaults/{id}', { params: { path: { id } } })),
    onSuccess: renew(client),
  })
}

export function useCredentialCreate(id: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (body: CredentialCreateBody) =>
      dataOf(api.POST('/v1/vaults/{id}/credentials', { params: { path: { id } }, body })),
    onSuccess: renew(client),
  })
}

const placeOf = ({ vault_id, id }: VaultCredential) => ({ id: vault_id, credential_id: id })

export function useCredentialChange(credential: VaultCredential) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (body: CredentialUpdateBody) =>
      dataOf(
        api.POST('/v1/vaults/{id}/credentials/{credential_id}', {
          params: { path: placeOf(credential) },
          body,
        }),
      ),
    onSuccess: renew(client),
  })
}

export function useCredentialArchive(credential: VaultCredential) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: () =>
      dataOf(
        api.POST('/v1/vaults/{id}/credentials/{credential_id}/archive', {
          params: { path: placeOf(credential) },
        }),
      ),
    onSuccess: renew(client),
  })
}

export function useCredentialDelete(credential: VaultCredential) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: () =>
      dataOf(
        api.DELETE('/v1/vaults/{id}/credentials/{credential_id}', {
          params: { path: placeOf(credential) },
        }),
      ),
    onSuccess: renew(client),
  })
}

/** Asks the server of an OAuth credential; a token that has ended is renewed for it. */
export function useValidation(credential: VaultCredential) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: () =>
      dataOf(
        api.POST('/v1/vaults/{id}/credentials/{credential_id}/mcp_oauth_validate', {
          params: { path: placeOf(credential) },
        }),
      ),
    onSuccess: renew(client),
  })
}
