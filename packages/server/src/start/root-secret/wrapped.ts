/** Root secrets that a key service has wrapped: at each start the service unwraps them. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { KeyService } from '@steward/secret-managers/key-service.ts'
import type { ManagerFailure } from '@steward/secret-managers/wire.ts'
import { wrappedRootSecret, rootSecretForm } from '../../ground/config/wrapped-root-secret.ts'

/** Waits before the second and each further attempt, in ms. Only a service that is away is asked again. */
const pausesMs = [1_000, 2_000, 4_000, 8_000]
const attemptMs = 12_000

type Unwrapping<Value> = { ok: true; value: Value } | { ok: false; failure: ManagerFailure }

async function unwrapOne(
  service: KeyService,
  text: string,
  pauses: readonly number[],
): Promise<Unwrapping<string>> {
  const wrapped = wrappedRootSecret.read(text)
  if (wrapped === undefined) return { ok: true, value: text }
  for (let attempt = 0; ; attempt++) {
    const answer = await service.unwrap(wrapped, AbortSignal.timeout(attemptMs))
    if (answer.ok) {
      const secret = answer.secret.toString('utf8')
      const words = 'what it unwraps is no root secret, which has 16 or more characters'
      return rootSecretForm.test(secret)
        ? { ok: true, value: secret }
        : { ok: false, failure: { ok: false, why: 'malformed', words } }
    }
    const pauseMs = pauses[attempt]
    if (answer.why !== 'away' || pauseMs === undefined) return { ok: false, failure: answer }
    await sleep(pauseMs)
  }
}

type RootSecrets = { rootSecret: string; previousRootSecret: string | undefined }

/** Both secrets in the clear. A previous one that is not wrapped stays as it is. SECRET: never logged. */
export async function unwrapRootSecrets(
  service: KeyService,
  { rootSecret, previousRootSecret }: RootSecrets,
  pauses: readonly number[] = pausesMs,
): Promise<Unwrapping<RootSecrets>> {
  const current = await unwrapOne(service, rootSecret, pauses)
  if (!current.ok) return current
  if (previousRootSecret === undefined)
    return { ok: true, value: { rootSecret: current.value, previousRootSecret } }
  const previous = await unwrapOne(service, previousRootSecret, pauses)
  if (!previous.ok) return previous
  return { ok: true, value: { rootSecret: current.value, previousRootSecret: previous.value } }
}

/** The text that takes the place of the secret in the settings, once the service has unwrapped it again. */
export async function wrapRootSecret(
  service: KeyService,
  secret: string,
): Promise<{ ok: true; text: string } | ManagerFailure> {
  const wrapped = await service.wrap(Buffer.from(secret), AbortSignal.timeout(attemptMs))
  if (!wrapped.ok) return wrapped
  const opened = await service.unwrap(wrapped.wrapped, AbortSignal.timeout(attemptMs))
  if (!opened.ok) return opened
  if (opened.secret.toString('utf8') !== secret)
    return { ok: false, why: 'malformed', words: 'it unwraps another secret than it was given' }
  return { ok: true, text: wrappedRootSecret.write(wrapped.wrapped) }
}
