/** Where people reach this service, and which pages may change something with their cookie. */
import { forbidden } from '../../ground/core/errors.ts'
import type { Header } from '../../ground/http/caller.ts'

export type OwnOrigin = {
  /** Of links to this service. */
  of(header: Header): string
  /** Throws where a page of another origin asks, or where a change with a cookie does not say which page asks. */
  check(header: Header, request: { isChange: boolean }): void
}

/** By `PUBLIC_URL`; without it, by the host that the request names. */
export function ownOrigin(publicUrl: string | undefined): OwnOrigin {
  const configured = publicUrl === undefined ? undefined : new URL(publicUrl).origin
  const of = (header: Header) => configured ?? `http://${header('host') ?? 'localhost'}`
  return {
    of,
    check(header, { isChange }) {
      const origin = header('origin')
      if (origin === undefined) {
        if (!isChange) return
        throw forbidden(
          'Origin: a request with a session cookie that changes something must say where it comes from; programs send an API key in place of the cookie',
          'origin_required',
        )
      }
      if (origin !== of(header))
        throw forbidden(
          `Origin: ${shown(origin)} is not an origin of this service`,
          'origin_foreign',
        )
    },
  }
}

const shown = (origin: string): string => origin.slice(0, 200)
