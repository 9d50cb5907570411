/**
 * Finds updates of a credential that would send its stored secret to more places. Server, token endpoint, CLI and
 * variable cannot change (`AuthUpdate`). The way in which a client authenticates does not change its token endpoint.
 */
import type { CredentialAuth } from '@steward/protocol/vaults.ts'
import type { NewDestination } from '../../ground/core/security/secret-destination.ts'
import type { SecretPart } from '../../ground/database/tables/vaults.ts'
import type { WrittenAuth } from './auth.ts'

export function newDestinations(
  kept: CredentialAuth,
  { auth, secrets, dropped }: Pick<WrittenAuth, 'auth' | 'secrets' | 'dropped'>,
  at: string,
): NewDestination[] {
  // Another reference names another secret.
  const isGiven = (part: SecretPart) => secrets[part] !== undefined || dropped.includes(part)
  if (kept.type === 'command_secret' && auth.type === kept.type) {
    if (isGiven('token') || isNarrower(auth.command_prefixes, kept.command_prefixes)) return []
    return [{ field: `${at}.command_prefixes`, secrets: [`${at}.token`] }]
  }
  if (kept.type === 'environment_variable' && auth.type === kept.type) {
    if (isGiven('secret_value')) return []
    const again = [`${at}.secret_value`]
    return [
      ...(goesNoFurther(auth.networking, kept.networking)
        ? []
        : [{ field: `${at}.networking`, secrets: again }]),
      ...(isWithin(auth.injection_location, kept.injection_location)
        ? []
        : [{ field: `${at}.injection_location`, secrets: again }]),
    ]
  }
  return []
}

/** No prefix means every command. */
function isNarrower(next: readonly string[], kept: readonly string[]): boolean {
  if (kept.length === 0) return true
  if (next.length === 0) return false
  return next.every((prefix) => kept.some((wider) => `${prefix} `.startsWith(`${wider} `)))
}

type VariableAuth = Extract<CredentialAuth, { type: 'environment_variable' }>

function goesNoFurther(
  next: VariableAuth['networking'],
  kept: VariableAuth['networking'],
): boolean {
  if (kept.type === 'unrestricted') return true
  if (next.type === 'unrestricted') return false
  return next.allowed_hosts.every((host) => kept.allowed_hosts.some((wider) => covers(wider, host)))
}

/** `*.example.com` covers every name below it, and every pattern for names below it. */
function covers(wider: string, host: string): boolean {
  const [pattern, name] = [wider.toLowerCase(), host.toLowerCase()]
  return pattern === name || (pattern.startsWith('*.') && name.endsWith(pattern.slice(1)))
}

/** A host may store a secret in a body and show it to others, so a body counts as wider. */
const isWithin = (
  next: VariableAuth['injection_location'],
  kept: VariableAuth['injection_location'],
): boolean => (kept.header || !next.header) && (kept.body || !next.body)
