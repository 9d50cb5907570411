/**
 * Chooses the credential of a call. Rows are ordered: vaults as the session names them, within a vault the oldest
 * first. The first match wins. [credentials/match/order]
 */
import { normalUrl } from '../../../resources/vaults/auth.ts'
import type { CredentialRow } from '../../../resources/vaults/credentials.ts'
import type { CliHost } from '../../../resources/vaults/clis.ts'
import { knownClis } from '../../../resources/vaults/clis.ts'

type CredentialOf<Type extends CredentialRow['auth']['type']> = CredentialRow & {
  auth: Extract<CredentialRow['auth'], { type: Type }>
}
export type OAuthRow = CredentialOf<'mcp_oauth'>
export type VariableRow = CredentialOf<'environment_variable'>
export type CommandRow = CredentialOf<'command_secret'>
export type IdentityRow = CredentialOf<'agent_identity'>
type ServerRow = CredentialOf<'static_bearer' | 'mcp_oauth' | 'agent_identity'>

/** The one credential that goes into a header of its own, and the form of that header. */
export type HeaderCredential =
  | { row: ServerRow; form: 'bearer' }
  | { row: CredentialOf<'cap_cli'>; form: CliHost['form'] }

const isType =
  <Type extends CredentialRow['auth']['type']>(...types: Type[]) =>
  (row: CredentialRow): row is CredentialOf<Type> =>
    types.some((type) => row.auth.type === type)

export const isOAuth = isType('mcp_oauth')
export const isCommandSecret = isType('command_secret')
export const isVariable = isType('environment_variable')
export const isAgentIdentity = isType('agent_identity')
const isServer = isType('static_bearer', 'mcp_oauth', 'agent_identity')
const isCli = isType('cap_cli')

/**
 * A credential for an https URL never goes over http. A credential for an http URL goes only to its own host and port
 * over http.
 */
const mayCarry = (own: URL, url: URL): boolean =>
  url.protocol === 'https:' || (own.protocol === 'http:' && own.host === url.host)

/** A match of the whole URL in any vault comes before a match of the host in any vault. */
export function credentialOfServer(
  rows: readonly CredentialRow[],
  url: URL,
): HeaderCredential | undefined {
  const row = ofUrl(rows, url) ?? rows.find((each) => isServer(each) && isHostOf(each, url))
  return row && isServer(row) ? { row, form: 'bearer' } : undefined
}

/** Like `credentialOfServer`. Adds credentials of known command-line tools by their hosts, over https only. */
export function credentialOfHost(
  rows: readonly CredentialRow[],
  url: URL,
): HeaderCredential | undefined {
  const whole = ofUrl(rows, url)
  if (whole) return { row: whole, form: 'bearer' }
  for (const row of rows) {
    if (isServer(row) && isHostOf(row, url)) return { row, form: 'bearer' }
    const host = isCli(row) && url.protocol === 'https:' ? cliHost(row, url.hostname) : undefined
    if (host && isCli(row)) return { row, form: host.form }
  }
  return undefined
}

function ofUrl(rows: readonly CredentialRow[], url: URL): ServerRow | undefined {
  const wanted = normalUrl(url)
  return rows.find((row): row is ServerRow => {
    const own = isServer(row) ? serverUrl(row) : undefined
    return own?.hostname === url.hostname && normalUrl(own) === wanted
  })
}

const serverUrl = ({ auth: { mcp_server_url: url } }: ServerRow): URL | undefined =>
  url === null ? undefined : new URL(url)

function isHostOf(row: ServerRow, url: URL): boolean {
  const own = serverUrl(row)
  if (own?.hostname === url.hostname && mayCarry(own, url)) return true
  return url.protocol === 'https:' && isAgentIdentity(row) && allowsHost(hostsOf(row), url.hostname)
}

const hostsOf = ({ auth: { allowed_hosts: hosts } }: IdentityRow): readonly string[] => hosts

const cliHost = (row: CredentialOf<'cap_cli'>, host: string): CliHost | undefined =>
  knownClis[row.auth.cli_id]?.hosts.find((each) => each.host === host)

/** Variables whose placeholders may be exchanged on the way to this URL; over https only. */
export const variablesFor = (rows: readonly CredentialRow[], url: URL): VariableRow[] =>
  url.protocol === 'https:'
    ? rows.filter(isVariable).filter((row) => allows(row, url.hostname))
    : []

function allows({ auth: { networking } }: VariableRow, host: string): boolean {
  return networking.type === 'unrestricted' || allowsHost(networking.allowed_hosts, host)
}

const allowsHost = (allowed: readonly string[], host: string): boolean =>
  allowed.some((each) => {
    const name = each.toLowerCase()
    return name.startsWith('*.') ? host.endsWith(name.slice(1)) : host === name
  })

/** The hosts of a variable's credential that cannot be reached; see `mayReach` of the rules. */
export const findUnreachableHosts = (
  { auth: { networking } }: VariableRow,
  mayReach: (host: string) => boolean,
): string[] =>
  networking.type === 'limited' ? networking.allowed_hosts.filter((host) => !mayReach(host)) : []

/** True when a call to this host may carry a credential, so that the gate has to read its traffic. */
export const isCovered = (rows: readonly CredentialRow[], host: string): boolean =>
  rows.some(
    (row) =>
      (isServer(row) && serverUrl(row)?.hostname === host) ||
      (isAgentIdentity(row) && allowsHost(hostsOf(row), host)) ||
      (isCli(row) && cliHost(row, host) !== undefined) ||
      (isVariable(row) && allows(row, host)),
  )

/**
 * Secrets for one simple command. A credential without prefixes matches every command, else the first words must equal
 * a prefix.
 */
export const secretsOfCommand = (
  rows: readonly CredentialRow[],
  words: readonly string[],
): CommandRow[] =>
  rows.filter(isCommandSecret).filter(({ auth: { command_prefixes } }) => {
    if (command_prefixes.length === 0) return true
    return command_prefixes.some((prefix) => {
      const own = prefix.trim().split(/\s+/)
      return own.every((word, i) => words[i] === word)
    })
  })
