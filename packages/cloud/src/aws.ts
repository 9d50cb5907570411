/** Who we are at Amazon, by its own library, which is loaded at the first request. */
import type { fromTemporaryCredentials } from '@aws-sdk/credential-providers'
import type { AwsCredentials } from './credentials.ts'
import type { AwsIdentity, AwsKeys, CloudDeps } from './identity.ts'
import { credentialSecrets } from './credentials.ts'
import { refreshed } from './refreshed.ts'

/** Where roles are assumed when no region is named. */
const usualRegion = 'us-east-1'
const sessionName = 'steward'

/**
 * `machine` is the chain of Amazon's library: variables, the files of profiles, a web identity file, the address of a
 * container (ECS, EKS pod identity) and the address of the machine (IMDSv2). The last two are asked directly, past
 * `fetch` and its proxies: their addresses come from this process's variables.
 */
export function awsIdentity(
  given: AwsCredentials,
  { region = usualRegion, fetch, now = Date.now }: CloudDeps & { region?: string | undefined },
): AwsIdentity {
  const secrets = credentialSecrets(given)
  async function request(): Promise<AwsKeys> {
    const library = await import('@aws-sdk/credential-providers')
    const clientConfig = { region, maxAttempts: 2, requestHandler: byFetch(fetch) }
    const own = ownKeys(given)
    const first = () =>
      own ? Promise.resolve(own) : library.fromNodeProviderChain({ clientConfig })()
    if (given.role_arn === undefined) return keysOf(await first())
    const assumed = library.fromTemporaryCredentials({
      masterCredentials: first,
      params: {
        RoleArn: given.role_arn,
        RoleSessionName: sessionName,
        ...(given.external_id !== undefined && { ExternalId: given.external_id }),
      },
      clientConfig,
    })
    return keysOf(await assumed())
  }
  return refreshed(request, { now, secrets })
}

type LibraryKeys = {
  accessKeyId: string
  secretAccessKey: string
  sessionToken?: string
  expiration?: Date
}

function ownKeys(given: AwsCredentials): LibraryKeys | undefined {
  if (given.type === 'machine') return undefined
  return {
    accessKeyId: given.access_key_id,
    secretAccessKey: given.secret_access_key,
    ...(given.session_token !== undefined && { sessionToken: given.session_token }),
  }
}

const keysOf = ({
  accessKeyId,
  secretAccessKey,
  sessionToken,
  expiration,
}: LibraryKeys): AwsKeys => ({
  accessKeyId,
  secretAccessKey,
  ...(sessionToken !== undefined && { sessionToken }),
  expiresMs: expiration?.getTime() ?? null,
})

type RequestHandler = NonNullable<
  NonNullable<Parameters<typeof fromTemporaryCredentials>[0]['clientConfig']>['requestHandler']
>
type LibraryRequest = {
  protocol: string
  hostname: string
  port?: number
  path: string
  query?: Record<string, string | string[] | null>
  method: string
  headers: Record<string, string>
  body?: string | Uint8Array<ArrayBuffer> | null
}

/** The library's requests by a fetch of ours, which guards addresses and knows the proxies. */
function byFetch(fetch: typeof globalThis.fetch): RequestHandler {
  return {
    metadata: { handlerProtocol: 'http/1.1' },
    async handle(request: LibraryRequest) {
      const { protocol, hostname, port, path, query, method, headers, body = null } = request
      const at = port === undefined ? hostname : `${hostname}:${port}`
      const url = new URL(`${protocol}//${at}${path}`)
      for (const [name, value] of Object.entries(query ?? {}))
        for (const each of [value].flat()) url.searchParams.append(name, each ?? '')
      const { host: _host, 'content-length': _length, ...sent } = headers
      const answer = await fetch(url, { method, headers: sent, body, redirect: 'manual' })
      const answered = new Uint8Array(await answer.arrayBuffer())
      return {
        response: {
          statusCode: answer.status,
          headers: Object.fromEntries(answer.headers),
          body: answered,
        },
      }
    },
  }
}
