/**
 * Which credential a call carries. The rows come in order: the session's vaults as it names them, within a vault the
 * oldest first; the first that matches wins. [credentials/match/order]
 */
import { normalUrl } from '../../../resources/vaults/auth.ts'
import type { CredentialRow } from '../../../resources/vaults/credentials.ts'
import type { CliHost } from '../../../resources/vaults/clis.ts'
import { clis } from '../../../resources/vaults/clis.ts'

type Typed<Type extends CredentialRow['auth']['type']> = CredentialRow & {
  auth: Extract<CredentialRow['auth'], { type: Type }>
}
export type OAuthRow = Typed<'mcp_oauth'>
export type VariableRow = Typed<'environment_variable'>
export type CommandRow = Typed<'command_secret'>
type ServerRow = Typed<'static_bearer' | 'mcp_oauth'>

/** The one credential of a call that stands in a header of its own, and the header's form. */
export type Chosen =
  | { row: ServerRow; form: 'bearer' }
  | { row: Typed<'cap_cli'>; form: CliHost['form'] }

const isType =
  <Type extends CredentialRow['auth']['type']>(...types: Type[]) =>
  (row: CredentialRow): row is Typed<Type> =>
    types.some((type) => row.auth.type === type)

export const isOAuth = isType('mcp_oauth')
export const isCommandSecret = isType('command_secret')
export const isVariable = isType('environment_variable')
const isServer = isType('static_bearer', 'mcp_oauth')
const isCli = isType('cap_cli')

/** What was given for https never goes over http; what was given for http goes to its own port alone. */
const mayCarry = (own: URL, url: URL): boolean =>
  url.protocol === 'https:' || (own.protocol === 'http:' && own.host === url.host)

/** The whole URL in any vault comes before the hostname in any vault. */
export function credentialOfServer(rows: readonly CredentialRow[], url: URL): Chosen | undefined {
  const row = ofUrl(rows, url) ?? rows.find((each) => isServer(each) && isHostOf(each, url))
  return row && isServer(row) ? { row, form: 'bearer' } : undefined
}

/** As for a server, and command lines of known services by their hosts, over https alone. */
export function credentialOfHost(rows: readonly CredentialRow[], url: URL): Chosen | undefined {
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
    if (!isServer(row)) return false
    const own = new URL(row.auth.mcp_server_url)
    return own.hostname === url.hostname && normalUrl(own) === wanted
  })
}

function isHostOf(row: ServerRow, url: URL): boolean {
  const own = new URL(row.auth.mcp_server_url)
  return own.hostname === url.hostname && mayCarry(own, url)
}

const cliHost = (row: Typed<'cap_cli'>, host: string): CliHost | undefined =>
  clis[row.auth.cli_id]?.hosts.find((each) => each.host === host)

/** Variables that may be exchanged on the way to this URL: over https alone. */
export const variablesFor = (rows: readonly CredentialRow[], url: URL): VariableRow[] =>
  url.protocol === 'https:'
    ? rows.filter(isVariable).filter((row) => allows(row, url.hostname))
    : []

function allows({ auth: { networking } }: VariableRow, host: string): boolean {
  if (networking.type === 'unrestricted') return true
  return networking.allowed_hosts.some((allowed) => {
    const name = allowed.toLowerCase()
    return name.startsWith('*.') ? host.endsWith(name.slice(1)) : host === name
  })
}

/** Whether anything is to be added on the way to this host: its traffic is then read. */
export const isCovered = (rows: readonly CredentialRow[], host: string): boolean =>
  rows.some(
    (row) =>
      (isServer(row) && new URL(row.auth.mcp_server_url).hostname === host) ||
      (isCli(row) && cliHost(row, host) !== undefined) ||
      (isVariable(row) && allows(row, host)),
  )

/** Of one single simple command: without a prefix every one, else those whose first words are a prefix's. */
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
