/** Where this console lies: the server says so by `<base>`, so that one build works below any path. */
import { keepTabKey } from './tab.ts'

/** The path of the console, such as `/console/`. */
export const consolePath: string = new URL(document.baseURI).pathname

/** The address of the service, without a slash at its end. */
export const serviceUrl: string = new URL('..', document.baseURI).href.replace(/\/$/, '')

/** The page to sign in, which leads back to the page that is open. */
export const signInUrl = (): string => {
  const here = location.pathname + location.search
  return `${serviceUrl}/signin?return_to=${encodeURIComponent(here)}`
}

/** Opens the page to sign in, which is the service's own. Nothing of this page goes on. */
export function leaveForSignIn(): Promise<never> {
  // A key that the service does not know any more would lead back here for good.
  keepTabKey(undefined)
  location.replace(signInUrl())
  return new Promise(() => {})
}
