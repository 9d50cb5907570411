import { runTogether } from '@steward/base/shared-runs.ts'
import { cloudFailure } from './failure.ts'
import type { CloudIdentity, CloudOutcome } from './identity.ts'

/** A credential is replaced this long before its end, or when half of its time is over. */
const earlyMs = 5 * 60_000
/** A credential that ends sooner is not given out. */
const leastMs = 10_000
/** Time between two attempts while the old credential still holds. */
const againMs = 30_000
/** Longest time that callers wait for a credential. */
const patienceMs = 20_000

/**
 * Keeps a credential until shortly before its end. While the old credential holds, callers get it at once and the
 * request for a new one runs beside them. `secrets`: texts that no message may repeat.
 */
export function refreshed<Credential extends { expiresMs: number | null }>(
  request: () => Promise<Credential>,
  { now, secrets }: { now: () => number; secrets: readonly string[] },
): CloudIdentity<Credential> {
  let kept: { credential: Credential; renewMs: number } | undefined
  let generation = 0

  const renew = runTogether(async (): Promise<CloudOutcome<Credential>> => {
    const begun = generation
    try {
      const credential = await withinTime(request())
      if (begun === generation) kept = { credential, renewMs: renewalOf(credential, now()) }
      return { ok: true, credential }
    } catch (error) {
      if (kept) kept.renewMs = now() + againMs
      return cloudFailure(error, secrets)
    }
  })

  return {
    async current() {
      const held = kept
      if (!held || !isLive(held.credential, now())) return renew()
      if (now() >= held.renewMs) void renew()
      return { ok: true, credential: held.credential }
    },
    forget() {
      generation++
      kept = undefined
      renew.forget()
    },
  }
}

const isLive = ({ expiresMs }: { expiresMs: number | null }, nowMs: number): boolean =>
  expiresMs === null || expiresMs - nowMs > leastMs

function renewalOf({ expiresMs }: { expiresMs: number | null }, nowMs: number): number {
  if (expiresMs === null) return Infinity
  return expiresMs - Math.min(earlyMs, (expiresMs - nowMs) / 2)
}

async function withinTime<Value>(promise: Promise<Value>): Promise<Value> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => late.reject(new Error(`no credential within ${patienceMs / 1_000} s`)),
    patienceMs,
  )
  try {
    return await Promise.race([promise, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
