/** Who we are at Microsoft, by its own library, which is loaded at the first request. */
import { env } from 'node:process'
import type { HttpClient } from '@azure/core-rest-pipeline'
import type { TokenCredential } from '@azure/identity'
import type { AzureCredentials } from './credentials.ts'
import type { BearerIdentity, BearerToken, CloudDeps } from './identity.ts'
import { refreshed } from './refreshed.ts'

/** The library asks again and again; this ends it. */
const patienceMs = 15_000
const usualAuthority = 'login.microsoftonline.com'

/**
 * `scope`: what the token is for, such as `https://vault.azure.net/.default`. `machine`: the file of workload identity
 * that AZURE_FEDERATED_TOKEN_FILE names, the secret in AZURE_CLIENT_SECRET, or the managed identity of the machine, in
 * this order.
 */
export function azureIdentity(
  given: AzureCredentials,
  { scope, fetch, now = Date.now }: CloudDeps & { scope: string },
): BearerIdentity {
  async function request(): Promise<BearerToken> {
    const credential = await credentialOf(given, fetch)
    const abortSignal = AbortSignal.timeout(patienceMs)
    const { token, expiresOnTimestamp } = await credential.getToken(scope, { abortSignal })
    return { token, expiresMs: expiresOnTimestamp }
  }
  const secret = given.type === 'machine' ? env.AZURE_CLIENT_SECRET : given.client_secret
  return refreshed(request, { now, secrets: [secret ?? ''] })
}

type Token = { token: string; expiresOnTimestamp: number }
type AzureTokens = {
  getToken: (...args: Parameters<TokenCredential['getToken']>) => Promise<Token>
}

async function credentialOf(
  given: AzureCredentials,
  fetch: CloudDeps['fetch'],
): Promise<AzureTokens> {
  const [library, httpClient] = await Promise.all([import('@azure/identity'), byFetch(fetch)])
  const options = { httpClient, retryOptions: { maxRetries: 1 } }
  if (given.type === 'client_secret') {
    const { tenant_id, client_id, client_secret, authority = usualAuthority } = given
    const authorityHost = `https://${authority}`
    const { ClientSecretCredential } = library
    return new ClientSecretCredential(tenant_id, client_id, client_secret, {
      ...options,
      authorityHost,
    })
  }
  const { AZURE_TENANT_ID: tenant, AZURE_CLIENT_ID: client, AZURE_CLIENT_SECRET: secret } = env
  if (env.AZURE_FEDERATED_TOKEN_FILE) {
    const clientId = given.client_id
    const { WorkloadIdentityCredential } = library
    return new WorkloadIdentityCredential({ ...options, ...(clientId && { clientId }) })
  }
  if (tenant && client && secret)
    return new library.ClientSecretCredential(tenant, client, secret, options)
  const clientId = given.client_id ?? client
  const { ManagedIdentityCredential } = library
  return new ManagedIdentityCredential({ ...options, ...(clientId && { clientId }) })
}

/** The library's requests by a fetch of ours, which guards addresses and knows the proxies. */
async function byFetch(fetch: CloudDeps['fetch']): Promise<HttpClient> {
  const { createHttpHeaders, RestError } = await import('@azure/core-rest-pipeline')
  return {
    async sendRequest(request) {
      const { url, method, body, timeout, abortSignal } = request
      if (body !== undefined && body !== null && typeof body !== 'string')
        throw new TypeError('a body that is no text')
      const limits = [AbortSignal.timeout(timeout > 0 ? timeout : patienceMs)]
      if (abortSignal instanceof AbortSignal) limits.push(abortSignal)
      const answer = await fetch(url, {
        method,
        headers: request.headers.toJSON(),
        body: body ?? null,
        redirect: 'manual',
        signal: AbortSignal.any(limits),
      }).catch((cause: unknown) => {
        throw Object.assign(new RestError(`${new URL(url).host} could not be asked`, { request }), {
          cause,
        })
      })
      const headers = createHttpHeaders(Object.fromEntries(answer.headers))
      return { request, status: answer.status, headers, bodyAsText: await answer.text() }
    },
  }
}
