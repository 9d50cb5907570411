/** Signs requests to clouds, with credentials that callers share. */
import { createHash } from 'node:crypto'
import { awsIdentity } from '@steward/cloud/aws.ts'
import { azureIdentity } from '@steward/cloud/azure.ts'
import { googleIdentity } from '@steward/cloud/google.ts'
import type { BearerIdentity, CloudFailure } from '@steward/cloud/identity.ts'
import type { AwsIdentity } from '@steward/cloud/identity.ts'
import type { AwsRequest } from '@steward/cloud/sign-aws.ts'
import { signAws } from '@steward/cloud/sign-aws.ts'
import type { CloudAccess } from './access.ts'

const foundryScope = 'https://cognitiveservices.azure.com/.default'
/** Identities that are kept. */
const mostIdentities = 500

export type SignedHeaders = { ok: true; headers: Headers } | CloudFailure

export type CloudAuthority = {
  /** The headers of the request with what lets it in. `apiKey`: where the access has no credentials. */
  authorize(
    access: CloudAccess,
    request: Required<AwsRequest>,
    apiKey: string,
  ): Promise<SignedHeaders>
  /** The cloud refused the credential: the next request gets a new one. Returns false where there is no other. */
  forget(access: CloudAccess): boolean
}

/** `fetch`: by which clouds are asked for credentials. */
export function cloudAuthority({ fetch }: { fetch: typeof globalThis.fetch }): CloudAuthority {
  const identities = new Map<string, AwsIdentity | BearerIdentity>()

  function identityOf<Identity extends AwsIdentity | BearerIdentity>(
    access: CloudAccess,
    create: () => Identity,
  ): Identity {
    const key = keyOf(access)
    const known = identities.get(key)
    // The key holds the type, so that what is known has the type of what would be created.
    if (known !== undefined) return known as Identity
    if (identities.size >= mostIdentities) identities.clear()
    const created = create()
    identities.set(key, created)
    return created
  }

  return {
    async authorize(access, request, apiKey) {
      const headers = new Headers(request.headers)
      if (access.type === 'bedrock') {
        const { credentials, region } = access
        if (credentials === undefined) return withBearer(headers, apiKey)
        const found = await identityOf(access, () =>
          awsIdentity(credentials, { fetch, region }),
        ).current()
        if (!found.ok) return found
        const at = { region, service: 'bedrock' }
        return { ok: true, headers: await signAws(request, found.credential, at) }
      }
      const { credentials } = access
      if (credentials === undefined) {
        headers.set('x-api-key', apiKey)
        headers.set('api-key', apiKey)
        return { ok: true, headers }
      }
      const bearer = identityOf(access, () =>
        access.type === 'vertex' && access.credentials
          ? googleIdentity(access.credentials, { fetch })
          : azureOf(access, fetch),
      )
      const found = await bearer.current()
      return found.ok ? withBearer(headers, found.credential.token) : found
    },

    forget(access) {
      const known = identities.get(keyOf(access))
      known?.forget()
      return known !== undefined
    },
  }
}

function azureOf(access: CloudAccess, fetch: typeof globalThis.fetch): BearerIdentity {
  if (access.type !== 'foundry' || !access.credentials) throw new Error('no credentials')
  return azureIdentity(access.credentials, { scope: foundryScope, fetch })
}

function withBearer(headers: Headers, token: string): SignedHeaders {
  headers.set('authorization', `Bearer ${token}`)
  return { ok: true, headers }
}

/** Secrets are hashed. */
function keyOf(access: CloudAccess): string {
  const region = access.type === 'bedrock' ? access.region : ''
  const text = JSON.stringify([access.type, region, access.credentials])
  return createHash('sha256').update(text).digest('base64')
}
