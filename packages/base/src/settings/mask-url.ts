/** A URL without its secrets: who reads it sees where it leads. */

export const maskedText = '‹masked›'

const maskParameter = (_whole: string, name: string, value: string | undefined): string =>
  `${value === undefined ? name.slice(0, 1) : `${name}=`}${maskedText}`

/**
 * Hides the password, and a name without one, which is a token. The values of a query are hidden too, because some
 * programs take passwords there.
 */
export function maskUrl(text: string): string {
  const url = URL.parse(text)
  if (!url) return maskedText
  const { protocol, host, pathname, username, password, search, hash } = url
  if (`${username}${password}${search}${hash}` === '') return text
  const user = password === '' ? username && maskedText : `${username}:${maskedText}`
  const query = search.replaceAll(/([?&][^=&]*)(=[^&]*)?/g, maskParameter)
  return `${protocol}//${user && `${user}@`}${host}${pathname}${query}${hash && `#${maskedText}`}`
}
