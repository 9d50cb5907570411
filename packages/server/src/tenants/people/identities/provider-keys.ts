/**
 * The discovery document and the public keys of one provider. Requests to the provider are bounded in number, whatever
 * callers send: keys are asked anew when they are old, and at most once in a while for a token with an unknown key.
 */
import { readFile } from 'node:fs/promises'
import { runTogether } from '@steward/base/shared-runs.ts'
import type { Clock } from '@steward/base/time.ts'
import { minuteMs, secondMs } from '@steward/base/settings/kinds.ts'
import type { JSONWebKeySet } from 'jose'
import { z } from 'zod'
import type { CompanyProvider } from '../../../ground/config/company-providers.ts'
import { askProvider } from './ask-provider.ts'

/** Age of keys and documents at which they are asked anew. A removed key opens nothing after it. */
const freshMs = 10 * minuteMs
/** Age until which they count while the provider does not answer. */
const staleMs = 60 * minuteMs
/** Rest between two requests for unknown keys, and after a request that failed. */
const restMs = 30 * secondMs
const failedRestMs = 5 * secondMs

const Discovery = z.looseObject({
  issuer: z.string(),
  jwks_uri: z.url(),
  token_endpoint: z.url().optional(),
  token_endpoint_auth_methods_supported: z.array(z.string()).optional(),
  userinfo_endpoint: z.url().optional(),
})
export type Discovery = z.infer<typeof Discovery>

const KeySet = z.object({
  keys: z.array(z.looseObject({ kty: z.string() })).max(1_000),
})

/** An answer that is kept, and asked anew by at most one request at a time. */
function keptAnswer<T>(clock: Clock, ask: () => Promise<T>) {
  let kept: { answer: T; at: number } | undefined
  let failed: { error: unknown; at: number } | undefined
  const askOnce = runTogether(async () => {
    try {
      kept = { answer: await ask(), at: clock.now() }
      failed = undefined
      return kept.answer
    } catch (error) {
      failed = { error, at: clock.now() }
      throw error
    }
  })
  const age = () => (kept ? clock.now() - kept.at : Number.POSITIVE_INFINITY)

  /** Rejects with the last failure while the provider rests. */
  async function refresh(): Promise<T> {
    if (failed && clock.now() - failed.at < failedRestMs) throw failed.error
    return askOnce()
  }

  return {
    async get(): Promise<T> {
      if (kept && age() < freshMs) return kept.answer
      try {
        return await refresh()
      } catch (error) {
        if (kept && age() < staleMs) return kept.answer
        throw error
      }
    },
    /** A newer answer than the kept one. Undefined: the kept one is too young to be asked again. */
    async newer(): Promise<T | undefined> {
      return age() < restMs ? undefined : refresh()
    },
  }
}

export type ProviderKeys = {
  keys: () => Promise<JSONWebKeySet>
  /** For a token whose key is not among `keys`. Undefined: they were asked a moment ago. */
  newerKeys: () => Promise<JSONWebKeySet | undefined>
  discovery: () => Promise<Discovery>
}

/** Each function rejects when the provider does not answer as it should. */
export function providerKeys(provider: CompanyProvider, clock: Clock): ProviderKeys {
  async function credential(): Promise<Record<string, string>> {
    if (provider.bearerFile === undefined) return {}
    const token = await readFile(provider.bearerFile, 'utf8')
    return { authorization: `Bearer ${token.trim()}` }
  }

  const discovery = keptAnswer(clock, async () => {
    const url = `${provider.issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
    const document = Discovery.parse(await askProvider(url, { headers: await credential() }))
    // Attack: a document of another issuer would give its own keys. RFC 8414 3.3
    if (document.issuer !== provider.issuer)
      throw new Error(`${url} is the document of another issuer than the settings name`)
    return document
  })

  const keys = keptAnswer(clock, async (): Promise<JSONWebKeySet> => {
    const url = provider.jwksUri ?? (await discovery.get()).jwks_uri
    return KeySet.parse(await askProvider(url, { headers: await credential() }))
  })

  return {
    keys: () => keys.get(),
    newerKeys: () => keys.newer(),
    discovery: () => discovery.get(),
  }
}

/** A provider of the settings, with what it has said last. */
export type OpenProvider = { provider: CompanyProvider; keys: ProviderKeys }

/** By the name in the settings. */
export const openProviders = (
  providers: readonly CompanyProvider[],
  clock: Clock,
): ReadonlyMap<string, OpenProvider> =>
  new Map(
    providers.map((provider) => [provider.id, { provider, keys: providerKeys(provider, clock) }]),
  )
