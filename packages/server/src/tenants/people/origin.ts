/** The origin of this service, and the check that pages of other origins do not use a person's cookie. */
import { forbidden } from '../../ground/core/errors.ts'
import type { Header } from '../../ground/http/caller.ts'

export type OwnOrigin = {
  /** The origin for links to this service. */
  of(header: Header): string
  /** Throws for a request of another origin's page, and for a change with a cookie that names no origin. */
  check(header: Header, request: { isChange: boolean }): void
}

/** The origin of `PUBLIC_URL`; without it, the host that the request names. */
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
