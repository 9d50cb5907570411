/** Plans one call: the credential to add and the secrets to mask, from the credentials that the session holds now. */
import type { HeaderPairs } from '@steward/gate/outbound.ts'
import type { CredentialSecrets } from '../../../resources/vaults/auth.ts'
import type { CredentialRow } from '../../../resources/vaults/credentials.ts'
import type { HeaderCredential } from '../policy/credential.ts'
import { credentialOfHost, credentialOfServer, variablesFor } from '../policy/credential.ts'
import { onTheWire, withHeader } from './headers.ts'
import type { SecretLookup } from './placeholder.ts'
import { exchangeInHeaders } from './placeholder.ts'
import type { RepositoryToken } from '../policy/repository.ts'
import { toBasicCredentials, maskedPartsOf, findRepository } from '../policy/repository.ts'
import type { SessionCredentials } from '../policy/store.ts'

/** `server`: the credential of an MCP server. `host`: any credential that matches the host. */
export type Credentials = 'server' | 'host' | 'none'

/** SECRET: never logged. Rejects when a secret cannot be had. */
export type OpenCredential = (row: CredentialRow) => Promise<CredentialSecrets>

export type CredentialPlan = {
  chosen: HeaderCredential | undefined
  /** SECRET: never logged. Token of the chosen credential, or the server's inline token. */
  token: string | undefined
  /** The form of the token in the Authorization header. */
  form: keyof typeof forms
  variables: {
    placeholder: string
    /** SECRET: never logged. */
    secret: string
    row: CredentialRow
    header: boolean
    body: boolean
  }[]
}

const empty: CredentialPlan = { chosen: undefined, token: undefined, form: 'bearer', variables: [] }

/**
 * Opens the seals of credentials that concern this URL, and of no others. Reads those secrets that stand in a secret
 * manager, also of variables whose placeholders the call does not carry: what an upstream repeats has to be masked.
 */
export async function credentialPlan(
  { credentials: rows, repositories }: SessionCredentials,
  {
    url,
    credentials,
    inline,
    open,
    openToken,
    placeholder,
  }: {
    url: URL
    credentials: Credentials
    /** SECRET: never logged. */
    inline: string | undefined
    open: OpenCredential
    openToken: (row: RepositoryToken) => string
    placeholder: (row: CredentialRow) => string
  },
): Promise<CredentialPlan> {
  if (inline !== undefined) return { ...empty, token: inline }
  if (credentials === 'none') return empty
  if (credentials === 'server') {
    const chosen = credentialOfServer(rows, url)
    return { ...empty, ...(await carried(chosen, open)) }
  }
  // A repository's token for this URL comes before the vaults' credentials for its host.
  const repository = findRepository(repositories, url)
  const [own, opened] = await Promise.all([
    repository
      ? ({ token: openToken(repository), form: 'repository' } as const)
      : carried(credentialOfHost(rows, url), open),
    Promise.all(variablesFor(rows, url).map(async (row) => ({ row, secrets: await open(row) }))),
  ])
  return {
    ...empty,
    ...own,
    variables: opened.flatMap(({ row, secrets: { secret_value: secret } }) => {
      if (secret === undefined) return []
      const { header, body } = row.auth.injection_location
      return [{ placeholder: placeholder(row), secret, row, header, body }]
    }),
  }
}

const tokenOf = ({ token, access_token }: CredentialSecrets): string | undefined =>
  token ?? access_token

const carried = async (
  chosen: HeaderCredential | undefined,
  open: OpenCredential,
): Promise<Pick<CredentialPlan, 'chosen' | 'token' | 'form'>> => ({
  chosen,
  token: chosen && tokenOf(await open(chosen.row)),
  form: chosen?.form ?? 'bearer',
})

const forms: Record<HeaderCredential['form'] | 'repository', (token: string) => string> = {
  bearer: (token) => `Bearer ${onTheWire(token)}`,
  token: (token) => `token ${onTheWire(token)}`,
  repository: toBasicCredentials,
  basic: (token) => `Basic ${Buffer.from(`x-access-token:${token}`).toString('base64')}`,
}

/** Secrets by placeholder for headers or for the body. Calls `used` for each placeholder that is found. */
export function createSecretLookup(
  plan: CredentialPlan,
  part: 'header' | 'body',
  used: (row: CredentialRow) => void,
): SecretLookup | undefined {
  const here = plan.variables.filter((variable) => variable[part])
  if (here.length === 0) return undefined
  return {
    get(placeholder) {
      const found = here.find((variable) => variable.placeholder === placeholder)
      if (found) used(found.row)
      return found?.secret
    },
  }
}

/** Replaces all Authorization headers, in any case, by the credential. */
export function withCredential(
  headers: HeaderPairs,
  plan: CredentialPlan,
  { token = plan.token, used }: { token?: string | undefined; used: (row: CredentialRow) => void },
): HeaderPairs {
  const secrets = createSecretLookup(plan, 'header', used)
  const exchanged = secrets ? exchangeInHeaders(headers, secrets) : headers
  if (token === undefined) return exchanged
  const value = forms[plan.form](token)
  return withHeader(exchanged, 'Authorization', value)
}

export function secretsOfPlan({ token, form, variables }: CredentialPlan): string[] {
  const own = token === undefined ? [] : form === 'repository' ? maskedPartsOf(token) : [token]
  return [...own, ...variables.map(({ secret }) => secret)]
}
