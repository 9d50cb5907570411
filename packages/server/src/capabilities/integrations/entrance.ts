/** How deliveries come in: their headers, and the secret by which an integrations process passes them on. */
import { createHash, timingSafeEqual } from 'node:crypto'
import { unauthorized } from '../../ground/core/errors.ts'
import type { Route } from '../../ground/http/route.ts'

/** What a signature covers or names, of apps and of signed webhooks. */
export const appHeaders = [
  'x-hub-signature-256',
  'x-slack-signature',
  'x-slack-request-timestamp',
  'linear-signature',
  'content-type',
] as const
export const webhookHeaders = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const

/** Holds `INTEGRATIONS_INTERNAL_SECRET`. SECRET: never logged. */
export const internalHeader = 'x-integrations-secret'

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/** With a secret, what anyone may call is taken from the integrations process alone. [settings/integrations-secret] */
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
