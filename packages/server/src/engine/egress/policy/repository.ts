/** Decides which git calls carry the token of a session's repository, and in which form. */
import type { Sealed } from '../../../ground/core/security/seal.ts'

/** A repository of the session that has a token. */
export type RepositoryToken = { tenant_id: string; id: string; url: string; sealed_token: Sealed }

/** The paths that git and git-lfs use of a repository's server. gitprotocol-http(5) */
const calls =
  /^(?:\.git)?\/(?:info\/refs|git-upload-pack|git-receive-pack|info\/lfs\/(?:objects\/batch|locks(?:\/verify|\/[\w-]+\/unlock)?))$/

/**
 * The repository that the call is for; https only. Its token goes to git's own paths and to no other page of the host.
 * The path is compared as it is sent: an encoded path does not match.
 */
export function findRepository(
  rows: readonly RepositoryToken[],
  { protocol, origin, pathname }: URL,
): RepositoryToken | undefined {
  if (protocol !== 'https:') return undefined
  return rows.find(({ url }) => {
    const whole = url.endsWith('.git') ? url.slice(0, -4) : url
    const called = origin + pathname
    return called.startsWith(whole) && calls.test(called.slice(whole.length))
  })
}

export const isHostOfRepository = (rows: readonly RepositoryToken[], host: string): boolean =>
  rows.some(({ url }) => new URL(url).hostname === host)

/** `user:password` for Basic. A token without a user gets a neutral user name. */
export const toBasicCredentials = (token: string): string => {
  const pair = token.includes(':') ? token : `x-access-token:${token}`
  return `Basic ${Buffer.from(pair).toString('base64')}`
}

/** The parts of a token that must be masked: the whole token, and the password behind a user name. */
export const maskedPartsOf = (token: string): string[] => [
  ...new Set([token, token.slice(token.indexOf(':') + 1)]),
]
