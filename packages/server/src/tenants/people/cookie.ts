/** The session cookie: a random token and its signature, so that a forged cookie costs no lookup. */
import { createHmac } from 'node:crypto'
import { isSameSecret } from '../../ground/core/security/token.ts'

/** Lifetime of a sign-in and of its cookie. */
export const signInSeconds = 7 * 24 * 60 * 60

export type SessionCookie = {
  /** The token in the request's cookies; undefined unless this service signed it. */
  read(cookies: string | undefined): string | undefined
  /** The value of `Set-Cookie` that signs in. */
  set(token: string): string
  /** The value of `Set-Cookie` that signs out. */
  clear(): string
}

/** Signs under the first key; reads cookies of all keys. `isSecure`: browsers send the cookie over TLS only. */
export function sessionCookie(
  keys: readonly [Buffer, ...Buffer[]],
  { isSecure }: { isSecure: boolean },
): SessionCookie {
  const name = cookieName('steward_session', isSecure)
  const attributes = cookieAttributes(isSecure)
  const signature = (token: string, key: Buffer) =>
    createHmac('sha256', key).update(token).digest('base64url')
  return {
    read(cookies) {
      const [token = '', mark = ''] = readCookie(cookies, name)?.split('.') ?? []
      if (token === '') return undefined
      return keys.some((key) => isSameSecret(mark, signature(token, key))) ? token : undefined
    },
    set: (token) =>
      `${name}=${token}.${signature(token, keys[0])}; ${attributes}; Max-Age=${signInSeconds}`,
    clear: () => `${name}=; ${attributes}; Max-Age=0`,
  }
}

/** `__Host-` keeps other hosts of the domain, and plain HTTP, from setting the cookie. */
export const cookieName = (name: string, isSecure: boolean): string =>
  isSecure ? `__Host-${name}` : name

export const cookieAttributes = (isSecure: boolean): string =>
  `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`

/** The first cookie of the name. */
export function readCookie(cookies: string | undefined, name: string): string | undefined {
  for (const pair of cookies?.split(';') ?? []) {
    const [key = '', ...value] = pair.trim().split('=')
    if (key === name) return value.join('=')
  }
  return undefined
}
