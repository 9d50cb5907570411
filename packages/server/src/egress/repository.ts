/** The git traffic of a session's repositories: which calls carry a repository's token, and how. */

/** Token alone, or `user:password` for servers that want a name of their own. */
export const basicOf = (token: string): string => {
  const pair = token.includes(':') ? token : `x-access-token:${token}`
  return `Basic ${Buffer.from(pair).toString('base64')}`
}
