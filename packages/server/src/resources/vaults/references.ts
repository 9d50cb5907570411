/** References of credentials: places in a secret manager, which stand in the auth in the fields of secrets. */
import type { AuthCreate, AuthUpdate } from '@steward/protocol/credential-auth.ts'
import { secretForms } from '@steward/protocol/credential-auth.ts'
import { parsedBy } from '@steward/protocol/problems.ts'
import type { SecretReference } from '@steward/protocol/secret-references.ts'
import type { CredentialAuth } from '@steward/protocol/vaults.ts'
import type { SecretPart } from '../../ground/database/tables/vaults.ts'

export type GivenSecret = string | SecretReference

/** A reference is no secret: it stands in the auth, in the field of the secret. */
export const referenceIn = <Part extends SecretPart>(part: Part, given: GivenSecret) =>
  (typeof given === 'string' ? {} : { [part]: given }) as { [Field in Part]?: SecretReference }

type OAuthAuth = Extract<CredentialAuth, { type: 'mcp_oauth' }>
type ShownClient = NonNullable<OAuthAuth['refresh']>['token_endpoint_auth']
type GivenClient = { type: ShownClient['type']; client_secret?: GivenSecret | null | undefined }

/** How a client authenticates itself, without its secret. */
export const shownClient = ({ type, client_secret: secret }: GivenClient): ShownClient => ({
  type,
  ...(type !== 'none' && secret ? referenceIn('client_secret', secret) : {}),
})

/** The reference of before stays, unless the update gives another one or a value. */
export const changedClient = (kept: ShownClient, given: GivenClient): ShownClient =>
  shownClient({ ...given, client_secret: given.client_secret ?? kept.client_secret })

/** The references of a credential, each with the part that it stands for. */
export function referencesOf(auth: CredentialAuth): [SecretPart, SecretReference][] {
  if (auth.type === 'agent_identity') return []
  const found: [SecretPart, SecretReference | undefined][] =
    auth.type === 'mcp_oauth'
      ? [['client_secret', auth.refresh?.token_endpoint_auth.client_secret]]
      : auth.type === 'environment_variable'
        ? [['secret_value', auth.secret_value]]
        : [['token', auth.token]]
  return found.filter((pair): pair is [SecretPart, SecretReference] => pair[1] !== undefined)
}

/** A reference in the body of a request. `at`: its field. */
export type GivenReference = {
  at: string
  reference: SecretReference
  auth: AuthCreate['type']
  part: SecretPart
}

/** The references that a write form gives. */
export function referencesGiven(auth: AuthCreate | AuthUpdate, at: string): GivenReference[] {
  const own: [SecretPart, string, GivenSecret | null | undefined][] = [
    ['token', `${at}.token`, 'token' in auth ? auth.token : undefined],
    ['secret_value', `${at}.secret_value`, 'secret_value' in auth ? auth.secret_value : undefined],
    ['client_secret', `${at}.refresh.token_endpoint_auth.client_secret`, clientSecretGiven(auth)],
  ]
  return own.flatMap(([part, field, given]) =>
    given && typeof given !== 'string'
      ? [{ at: field, reference: given, auth: auth.type, part }]
      : [],
  )
}

function clientSecretGiven(auth: AuthCreate | AuthUpdate): GivenSecret | null | undefined {
  const client = auth.type === 'mcp_oauth' ? auth.refresh?.token_endpoint_auth : undefined
  return client && 'client_secret' in client ? client.client_secret : undefined
}

/** What is wrong with a value for this part of a credential; undefined where nothing is. Never holds the value. */
export function valueProblem(
  type: AuthCreate['type'],
  part: SecretPart,
  value: string,
): string | undefined {
  const isHeader = part === 'token' && type !== 'command_secret'
  const form = isHeader ? 'header' : part === 'secret_value' ? 'value' : 'text'
  const parsed = parsedBy(secretForms[form], value)
  return parsed.ok ? undefined : parsed.problems
}
