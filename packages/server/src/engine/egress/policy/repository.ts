/** The git traffic of a session's repositories: which calls carry a repository's token, and how. */
import type { Sealed } from '../../../ground/core/seal.ts'

/** A repository of the session, with a token that opens it. */
export type RepositoryToken = { tenant_id: string; id: string; url: string; sealed_token: Sealed }

/** All that git, and git-lfs beside it, ask a server for a repository. gitprotocol-http(5) */
const calls =
  /^(?:\.git)?\/(?:info\/refs|git-upload-pack|git-receive-pack|info\/lfs\/(?:objects\/batch|locks(?:\/verify|\/[\w-]+\/unlock)?))$/

/**
 * The one whose address the call goes to, over https alone. Its token is for these calls and for no other page of the
 * host. The path is taken as it is sent: what only becomes another one when it is decoded is none of ours.
 */
export function repositoryOf(
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

/** The token alone, or `user:password` for a server that wants a name of its own. */
export const basicOf = (token: string): string => {
  const pair = token.includes(':') ? token : `x-access-token:${token}`
  return `Basic ${Buffer.from(pair).toString('base64')}`
}

/** What of a token may not be seen: it and, behind a name, the password. */
export const partsOf = (token: string): string[] => [
  ...new Set([token, token.slice(token.indexOf(':') + 1)]),
]
