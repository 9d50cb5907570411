/** How the server signs in at HashiCorp Vault or OpenBao. A token is renewed by a new sign-in before it ends. */
import { readBoundedText } from '@steward/base/settings/bounded-file.ts'
import type { Clock } from '@steward/base/time.ts'
import { z } from 'zod'
import type { ManagerFailure, ManagerWire } from '../wire.ts'
import { failure, parsedJson } from '../wire.ts'
import type { VaultSignIn } from './settings.ts'
import { saidByVault, vaultUrl, vaultHeaders } from './request.ts'

/** SECRET: never logged. */
type VaultToken = { ok: true; token: string; untilMs: number }

const LoginAnswer = z.object({
  auth: z.object({ client_token: z.string().min(1), lease_duration: z.number() }),
})

const mostFileBytes = 65_536
/** A token is replaced when this part of its time has passed. */
const usedPart = 0.8
/** A token that is younger is not replaced when the manager refuses a name: another one would be refused too. */
const leastMs = 5_000

async function textOf(
  given: { text: string | undefined; file: string | undefined },
  what: string,
): Promise<{ ok: true; text: string } | ManagerFailure> {
  if (given.text !== undefined) return { ok: true, text: given.text }
  const path = given.file ?? ''
  const read = await readBoundedText(path, mostFileBytes)
  if ('why' in read) return failure('sign_in', `${what} cannot be read from ${path}: ${read.why}`)
  const text = read.text.trim()
  return text === '' ? failure('sign_in', `${path} is empty`) : { ok: true, text }
}

export type VaultTokens = ReturnType<typeof vaultTokens>

/** `address`: of the manager. Callers share a sign-in that runs. */
export function vaultTokens(
  {
    address,
    namespace,
    auth,
  }: { address: string; namespace?: string | undefined; auth: VaultSignIn },
  { wire, clock }: { wire: ManagerWire; clock: Clock },
) {
  let current: (VaultToken & { sinceMs: number }) | undefined
  let running: Promise<VaultToken | ManagerFailure> | undefined

  async function credentials(): Promise<
    { ok: true; token: string } | { ok: true; path: string; body: object } | ManagerFailure
  > {
    if (auth.type === 'token') {
      const own = await textOf({ text: auth.token, file: auth.token_file }, 'the token')
      return own.ok ? { ok: true, token: own.text } : own
    }
    if (auth.type === 'approle') {
      const own = await textOf({ text: auth.secret_id, file: auth.secret_id_file }, 'the secret id')
      if (!own.ok) return own
      const body = { role_id: auth.role_id, secret_id: own.text }
      return { ok: true, path: `auth/${auth.mount}/login`, body }
    }
    const own = await textOf(
      { text: undefined, file: auth.token_file },
      'the token of this workload',
    )
    if (!own.ok) return own
    return { ok: true, path: `auth/${auth.mount}/login`, body: { role: auth.role, jwt: own.text } }
  }

  async function signIn(signal: AbortSignal): Promise<VaultToken | ManagerFailure> {
    const own = await credentials()
    if (!own.ok) return own
    // A file may get another token at any time, so it is read anew after a while.
    if ('token' in own) return { ok: true, token: own.token, untilMs: clock.now() + 60_000 }
    const answer = await wire(
      {
        method: 'POST',
        url: vaultUrl(address, own.path),
        headers: vaultHeaders({ namespace }),
        body: JSON.stringify(own.body),
      },
      signal,
    )
    if (!answer.ok) return answer
    const said = saidByVault(answer.text)
    if (answer.status >= 500 || answer.status === 429)
      return failure('away', `the sign-in is answered by ${answer.status}: ${said}`)
    if (answer.status !== 200)
      return failure('sign_in', `the sign-in is refused with ${answer.status}: ${said}`)
    const parsed = LoginAnswer.safeParse(parsedJson(answer.text))
    if (!parsed.success) return failure('malformed', 'the sign-in is answered without a token')
    const { client_token: token, lease_duration: seconds } = parsed.data.auth
    // Zero: the token does not end by itself.
    const lastsMs = seconds > 0 ? seconds * 1_000 * usedPart : 3_600_000
    return { ok: true, token, untilMs: clock.now() + lastsMs }
  }

  function renew(signal: AbortSignal): Promise<VaultToken | ManagerFailure> {
    running ??= signIn(signal)
      .then((answer) => {
        if (answer.ok) current = { ...answer, sinceMs: clock.now() }
        return answer
      })
      .finally(() => {
        running = undefined
      })
    return running
  }

  return {
    async token(signal: AbortSignal): Promise<VaultToken | ManagerFailure> {
      return current && current.untilMs > clock.now() ? current : renew(signal)
    },
    /** Call when the manager refuses this token: it may have been revoked. True: another one can be had. */
    refused(token: string): boolean {
      if (current?.token !== token) return true
      const isFixed = auth.type === 'token' && auth.token !== undefined
      if (isFixed || clock.now() - current.sinceMs < leastMs) return false
      current = undefined
      return true
    },
  }
}
