/** A URL without its secrets: who reads it sees where it leads. */

export const maskedText = '‹masked›'

/**
 * Hides the password, and a name without one, which is a token. The values of a query are hidden too, because some
 * programs take passwords there.
 */
export function maskUrl(text: string): string {
  const url = URL.parse(text)
  if (!url) return maskedText
  const { protocol, host, pathname, username, password, search, hash } = url
  const user = password === '' ? username && maskedText : `${username}:${maskedText}`
  const query = search && search.replaceAll(/([?&][^=&]*)(=[^&]*)?/g, maskParameter)
  const at = user && `${user}@`
  return `${protocol}//${at}${host}${pathname === '/' && !text.endsWith('/') ? '' : pathname}${query}${hash && `#${maskedText}`}`
}

const maskParameter = (_whole: string, name: string, value: string | undefined): string =>
  value === undefined ? `?${maskedText}` : `${name}=${maskedText}`
