/** Where a publication tells its people: the adapter of its kind, and its requests with their credential. */
import type { Clock } from '@steward/base/time.ts'
import type { Seal } from '../../ground/core/seal.ts'
import { signedHeaders } from '../../tenants/webhooks/sign.ts'
import type { Integration, ProviderCall, Telling } from './integration.ts'
import { signingSecretsOf } from './publications.ts'
import type { AnswerLetter } from './send.ts'
import { signedWebhook } from './signed-webhook.ts'
import type { PublicationRow } from './store.ts'

export type AnswerChannel = {
  adapter: Pick<Integration<never>, 'callFor' | 'searchFor' | 'found' | 'noted' | 'verdict'>
  letter: (telling: Telling, call: ProviderCall) => AnswerLetter
}

/** Undefined where nobody is told. */
export function channelOf(
  { seal, clock }: { seal: Seal; clock: Clock },
  publication: PublicationRow,
): AnswerChannel | undefined {
  const base = publication.spec.webhook?.answer_url ?? null
  if (base === null) return undefined
  return {
    adapter: signedWebhook,
    letter({ id }, { method, path, headers, body }) {
      const secrets = signingSecretsOf(seal, publication)
      const signed = signedHeaders({ id, body: body ?? '' }, secrets, clock.now())
      return { method, url: `${base}${path}`, headers: { ...headers, ...signed }, body }
    },
  }
}
