/** Forms carry a token that matches a cookie of the browser; forms of other pages cannot. */
import { createHmac, randomBytes } from 'node:crypto'
import { forbidden } from '../../ground/core/errors.ts'
import { isSameSecret } from '../../ground/core/security/token.ts'
import type { Header } from '../../ground/http/caller.ts'
import { html } from '../../ground/http/html.ts'
import { cookieAttributes, cookieName, readCookie } from '../people/cookie.ts'
import type { People } from '../people/people.ts'
import type { FormToken } from './html.ts'

const tokenOf = (key: Buffer, seed: string): string =>
  createHmac('sha256', key).update(`form ${seed}`).digest('base64url')

const nameOf = (isSecure: boolean) => cookieName('steward_form', isSecure)

/** The token for the forms of one page. `cookies`: the cookie to set when the browser has none. */
export function formToken({ key, isSecure }: People, header: Header): FormToken {
  const known = readCookie(header('cookie'), nameOf(isSecure))
  const seed = known ?? randomBytes(18).toString('base64url')
  const attributes = cookieAttributes(isSecure).replace('SameSite=Lax', 'SameSite=Strict')
  return {
    hidden: html`<input type="hidden" name="form_token" value="${tokenOf(key, seed)}" />`,
    cookies: known === undefined ? [`${nameOf(isSecure)}=${seed}; ${attributes}`] : [],
  }
}

/** Throws for a form that this service has not shown to this browser. */
export function checkForm(people: People, header: Header, form: URLSearchParams): void {
  people.origin.check(header, { isChange: true })
  checkFormToken(people, header, form)
}

/** Like `checkForm`, for a page that is also shown below another origin of this service. */
export function checkFormToken(
  { key, isSecure }: People,
  header: Header,
  form: URLSearchParams,
): void {
  const seed = readCookie(header('cookie'), nameOf(isSecure))
  if (seed === undefined || !isSameSecret(form.get('form_token') ?? '', tokenOf(key, seed)))
    throw forbidden('the form has expired: load the page again', 'form_expired')
}
