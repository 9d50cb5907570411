/** Who we are at Google, by its own library, which is loaded at the first request. */
import { access } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { env } from 'node:process'
import { z } from 'zod'
import type { GoogleCredentials, GoogleOwn } from './credentials.ts'
import type { BearerIdentity, BearerToken, CloudDeps } from './identity.ts'
import { credentialSecrets } from './credentials.ts'
import { refreshed } from './refreshed.ts'

const usualScopes = ['https://www.googleapis.com/auth/cloud-platform']
const metadataAddress = '169.254.169.254'

type GoogleDeps = CloudDeps & { scopes?: readonly string[] }

/**
 * `machine` is what Google calls application default credentials: the file that GOOGLE_APPLICATION_CREDENTIALS names, the
 * file of the command line `gcloud`, or the metadata address of the machine. Such a file is a key of a service account,
 * or says how this machine is known elsewhere (workload identity federation).
 */
export function googleIdentity(
  given: GoogleCredentials,
  { fetch, now = Date.now, scopes = usualScopes }: GoogleDeps,
): BearerIdentity {
  async function request(): Promise<BearerToken> {
    if (given.type === 'service_account') return tokenOfKey(given, fetch, scopes)
    const path = given.type === 'file' ? given.path : await defaultFile()
    return path === undefined
      ? tokenOfMachine({ fetch, now, scopes })
      : tokenOfFile(path, fetch, scopes)
  }
  const secrets = credentialSecrets(given)
  return refreshed(request, { now, secrets })
}

async function tokenOfKey(
  { client_email, private_key, private_key_id }: GoogleOwn,
  fetch: CloudDeps['fetch'],
  scopes: readonly string[],
): Promise<BearerToken> {
  const { JWT, gaxios } = await import('google-auth-library')
  const client = new JWT({
    email: client_email,
    key: private_key,
    scopes: [...scopes],
    transporter: new gaxios.Gaxios({ fetchImplementation: fetch }),
    ...(private_key_id !== undefined && { keyId: private_key_id }),
  })
  return tokenOf(client)
}

async function tokenOfFile(
  keyFilename: string,
  fetch: CloudDeps['fetch'],
  scopes: readonly string[],
): Promise<BearerToken> {
  const { GoogleAuth, gaxios } = await import('google-auth-library')
  const transporter = new gaxios.Gaxios({ fetchImplementation: fetch })
  const auth = new GoogleAuth({
    keyFilename,
    scopes: [...scopes],
    clientOptions: { transporter },
  })
  const client = await auth.getClient()
  // A client of workload identity federation exchanges tokens by a transporter of its own, which no option replaces.
  const exchange: unknown = Reflect.get(client, 'stsCredential')
  if (typeof exchange === 'object' && exchange !== null)
    Reflect.set(exchange, 'transporter', transporter)
  return tokenOf(client)
}

type TokenClient = {
  getAccessToken(): Promise<{ token?: string | null }>
  credentials: { expiry_date?: number | null }
}

async function tokenOf(client: TokenClient): Promise<BearerToken> {
  const { token } = await client.getAccessToken()
  if (!token) throw new Error('Google gave no access token')
  return { token, expiresMs: client.credentials.expiry_date ?? null }
}

/** Undefined where neither file exists. */
async function defaultFile(): Promise<string | undefined> {
  const named = env.GOOGLE_APPLICATION_CREDENTIALS
  if (named) return named
  const folder = env.CLOUDSDK_CONFIG || join(homedir(), '.config/gcloud')
  const usual = join(folder, 'application_default_credentials.json')
  return access(usual).then(
    () => usual,
    () => undefined,
  )
}

const MetadataToken = z.object({ access_token: z.string().min(1), expires_in: z.number() })

/** The library would ask the metadata address by a client of its own, which cannot be replaced for one caller. */
async function tokenOfMachine({ fetch, now, scopes }: Required<GoogleDeps>): Promise<BearerToken> {
  const host = env.GCE_METADATA_HOST || metadataAddress
  const url = new URL(`http://${host}/computeMetadata/v1/instance/service-accounts/default/token`)
  url.searchParams.set('scopes', scopes.join(','))
  const answer = await fetch(url, {
    headers: { 'metadata-flavor': 'Google' },
    redirect: 'manual',
    signal: AbortSignal.timeout(metadataMs),
  }).catch((cause: unknown) => {
    throw new Error(nothingFound, { cause })
  })
  const text = await answer.text()
  if (answer.headers.get('metadata-flavor') !== 'Google') throw new Error(nothingFound)
  if (!answer.ok)
    throw Object.assign(
      new Error(`the metadata address answered ${answer.status}: ${text.slice(0, 500)}`),
      { status: answer.status },
    )
  const { access_token, expires_in } = MetadataToken.parse(JSON.parse(text))
  return { token: access_token, expiresMs: now() + expires_in * 1_000 }
}

const metadataMs = 5_000
const nothingFound =
  'no application default credentials: GOOGLE_APPLICATION_CREDENTIALS names no file, and this machine has no metadata address of Google'
