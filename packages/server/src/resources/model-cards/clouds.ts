/** Models of clouds in cards: what a card must say, and with which credentials a cloud is asked. */
import type { CloudAccess, CloudType } from '@steward/model/cloud/access.ts'
import { isCloud } from '@steward/model/cloud/access.ts'
import { cloudAuthority } from '@steward/model/cloud/authority.ts'
import type { CloudProvider } from '@steward/model/cloud/provider.ts'
import { CardCredentials } from '@steward/protocol/model-clouds.ts'
import type { CloudSettings } from '@steward/protocol/model-clouds.ts'
import { identityFetch } from '../../ground/core/security/identity-dispatcher.ts'

/** Signs the requests to clouds of this process. It loads nothing, and holds nothing, before the first of them. */
export const requestAuthority = cloudAuthority({ fetch: identityFetch })

/** The workspaces whose cards may use what this machine is at a cloud. */
export type IdentityWorkspaces = readonly string[]

const taken: Record<CloudType, CardCredentials['type']> = {
  bedrock: 'aws_keys',
  vertex: 'service_account',
  foundry: 'client_secret',
}

const places: Record<CloudType, readonly string[]> = {
  bedrock: ['region', 'prefix'],
  vertex: ['region', 'project'],
  foundry: ['resource'],
}

type CloudCard = {
  provider: string
  base_url?: string | null | undefined
  cloud?: CloudSettings | null | undefined
  credentials?: CardCredentials | null | undefined
  native_config?: { api?: string | undefined } | null | undefined
}

/** The reason why a card cannot be kept; undefined when it can. */
export function refuseCloudCard(card: CloudCard): string | undefined {
  const { provider, cloud, credentials, native_config } = card
  if (!isCloud(provider)) {
    const field = cloud ? 'cloud' : credentials ? 'credentials' : undefined
    return field && `${field}: is for the providers bedrock, vertex and foundry`
  }
  if (native_config?.api !== undefined)
    return `native_config.api: leave it out; the provider ${provider} decides on the wire`
  if (credentials === null || credentials === undefined)
    return provider === 'vertex'
      ? 'credentials: is required; Vertex AI takes no API key. Give a key of a service account'
      : undefined
  if (credentials.type === 'machine') return refuseMachine(card, credentials)
  return credentials.type === taken[provider]
    ? undefined
    : `credentials.type: the provider ${provider} takes ${taken[provider]}`
}

function refuseMachine(
  { provider, base_url }: CloudCard,
  { role_arn, client_id }: Extract<CardCredentials, { type: 'machine' }>,
): string | undefined {
  // Attack: a token of this machine would go to any address.
  if (base_url) return 'base_url: leave it out; credentials of the machine go to the cloud alone'
  if (role_arn !== undefined && provider !== 'bedrock')
    return 'credentials.role_arn: is for the provider bedrock'
  return client_id !== undefined && provider !== 'foundry'
    ? 'credentials.client_id: is for the provider foundry'
    : undefined
}

/** The reason why a workspace may not use these credentials; asked at each use, because the setting can change. */
export const refuseIdentity = (
  type: CardCredentials['type'] | null | undefined,
  tenant: string,
  allowed: IdentityWorkspaces,
): string | undefined =>
  type !== 'machine' || allowed.includes(tenant)
    ? undefined
    : 'credentials: this workspace may not use the identity of the server; bring credentials of your own, or ask the operator to list the workspace in CLOUD_IDENTITY_WORKSPACES'

/** The provider of a card, or what is missing. */
export function cloudOfCard({
  provider: type,
  cloud,
  base_url,
}: CloudCard & { provider: CloudType }): CloudProvider | { refused: string } {
  const { region, project, resource, prefix } = cloud ?? {}
  const strange = Object.keys(cloud ?? {}).find((field) => !places[type].includes(field))
  if (strange !== undefined)
    return { refused: `cloud.${strange}: is not for the provider ${type}; leave it out` }
  const more = { base_url: base_url ?? undefined }
  if (type === 'foundry') return { type, resource, ...more }
  if (region === undefined) return { refused: `cloud.region: is required for provider ${type}` }
  if (type === 'bedrock') return { type, region, prefix, ...more }
  if (project === undefined) return { refused: 'cloud.project: is required for provider vertex' }
  return { type, region, project, ...more }
}

/** The sealed text of a card: a key as it is sent, or credentials. */
export const secretOf = (card: { api_key: string; credentials?: CardCredentials | null }): string =>
  card.credentials ? JSON.stringify(card.credentials) : card.api_key

export function openCredentials(
  type: CardCredentials['type'] | null | undefined,
  secret: string,
): CardCredentials | undefined {
  return type ? CardCredentials.parse(JSON.parse(secret)) : undefined
}

/** What of credentials a person recognises them by. */
export function credentialPreview(credentials: CardCredentials): string {
  switch (credentials.type) {
    case 'aws_keys':
      return credentials.access_key_id
    case 'service_account':
      return credentials.client_email
    case 'client_secret':
      return credentials.client_id
    case 'machine':
      return credentials.role_arn ?? credentials.client_id ?? 'machine'
  }
}

/** The access with the credentials of a card. The external id of a role is the workspace, so that no other can use it. */
export function accessWith(
  access: CloudAccess,
  given: CardCredentials | null,
  tenant: string,
): CloudAccess {
  if (given === null) return access
  if (access.type === 'bedrock') {
    if (given.type === 'aws_keys') return { ...access, credentials: given }
    const role =
      given.type === 'machine' && given.role_arn !== undefined
        ? { role_arn: given.role_arn, external_id: tenant }
        : {}
    return { ...access, credentials: { type: 'machine', ...role } }
  }
  if (access.type === 'vertex')
    return {
      ...access,
      credentials: given.type === 'service_account' ? given : { type: 'machine' },
    }
  if (given.type === 'client_secret') return { ...access, credentials: given }
  const client = given.type === 'machine' ? given.client_id : undefined
  return { ...access, credentials: { type: 'machine', ...(client && { client_id: client }) } }
}
