/**
 * The entrance of deliveries: their headers, and the secret with which the integrations process passes deliveries on.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import { unauthorized } from '../../../ground/core/errors.ts'
import type { Route } from '../../../ground/http/route.ts'

/** The headers of deliveries that are read: of signatures, and the numbers of deliveries, which nothing signs. */
export const appHeaders = [
  'x-hub-signature-256',
  'x-slack-signature',
  'x-slack-request-timestamp',
  'linear-signature',
  'linear-delivery',
  'x-github-delivery',
  'content-type',
] as const
export const webhookHeaders = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const

/** The header with `INTEGRATIONS_INTERNAL_SECRET`. SECRET: never logged. */
export const internalHeader = 'x-integrations-secret'

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/**
 * With a secret, routes that anyone may call accept only requests of the integrations process.
 * [settings/integrations-secret]
 */
export function onlyThroughProcess(routes: readonly Route[], secret: string | undefined): Route[] {
  if (secret === undefined) return [...routes]
  const expected = digest(secret)
  return routes.map((route) =>
    route.callers.includes('anyone')
      ? {
          ...route,
          async run(call, raw) {
            if (!timingSafeEqual(digest(call.header(internalHeader) ?? ''), expected))
              throw unauthorized(
                'deliveries are taken by the integrations process, at the address of INTEGRATIONS_PUBLIC_URL',
              )
            return route.run(call, raw)
          },
        }
      : route,
  )
}
