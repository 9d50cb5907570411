/** How a credential is, by what the service knows of it: its end and its last call. */
import type { CredentialUse, VaultCredential } from '../../lib/api/types.ts'
import type { StatusTone } from '../../lib/tones.ts'

export type CredentialState =
  | 'archived'
  | 'ended'
  | 'refused'
  | 'ending'
  | 'works'
  | 'used'
  | 'unused'

export const stateTones: Record<CredentialState, StatusTone> = {
  archived: 'idle',
  ended: 'failed',
  refused: 'failed',
  ending: 'asks',
  works: 'done',
  used: 'idle',
  unused: 'queued',
}

const soonMs = 14 * 24 * 60 * 60 * 1_000

/** When the credential ends for good: a token that is renewed does not. */
export const endOf = ({ auth }: VaultCredential): number | undefined =>
  auth.type === 'mcp_oauth' && auth.refresh === null && auth.expires_at !== null
    ? Date.parse(auth.expires_at)
    : undefined

/** `last`: its newest call; undefined where it never went anywhere. */
export function stateOf(
  credential: VaultCredential,
  last: CredentialUse | undefined,
  now: number,
): CredentialState {
  if (credential.archived_at !== null) return 'archived'
  const end = endOf(credential)
  if (end !== undefined && end <= now) return 'ended'
  // A call before the last change says nothing of the secret that is there now.
  const isOld = last !== undefined && last.created_at < credential.updated_at
  const status = isOld ? undefined : last?.status
  if (status === 401) return 'refused'
  if (end !== undefined && end - now < soonMs) return 'ending'
  if (last === undefined) return 'unused'
  return typeof status === 'number' && status < 400 ? 'works' : 'used'
}
