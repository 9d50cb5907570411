/** Requests under the token of the server. A token that the manager refuses is replaced once. */
import type { Clock } from '@steward/base/time.ts'
import type { ManagerFailure, ManagerWire } from '../wire.ts'
import { askTwice, failure } from '../wire.ts'
import { saidByVault, vaultHeaders, vaultUrl } from './request.ts'
import type { VaultSignIn } from './settings.ts'
import { vaultTokens } from './sign-in.ts'

/** SECRET: never logged. */
type VaultAnswer = { ok: true; status: number; text: string } | ManagerFailure

type VaultRequest = { path: string; query?: Record<string, string>; body?: object }

export type VaultAsk = ReturnType<typeof vaultAsk>

export function vaultAsk(
  server: { address: string; namespace?: string | undefined; auth: VaultSignIn },
  deps: { wire: ManagerWire; clock: Clock },
) {
  const { address, namespace } = server
  const tokens = vaultTokens(server, deps)

  /** `isStale`: the manager refuses the token, and another one can be had. */
  async function once(
    { path, query = {}, body }: VaultRequest,
    signal: AbortSignal,
  ): Promise<{ answer: VaultAnswer; isStale: boolean }> {
    const own = await tokens.token(signal)
    if (!own.ok) return { answer: own, isStale: false }
    const url = vaultUrl(address, path)
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
    const answer = await deps.wire(
      {
        method: body === undefined ? 'GET' : 'POST',
        url,
        headers: vaultHeaders({ token: own.token, namespace }),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      },
      signal,
    )
    if (!answer.ok) return { answer, isStale: false }
    const { status, text } = answer
    // Sealed, standby, or without a leader.
    if (status === 429 || status === 472 || status === 473 || status >= 500) {
      const away = failure('away', `it answers ${status}: ${saidByVault(text)}`)
      return { answer: away, isStale: false }
    }
    return { answer, isStale: status === 403 && tokens.refused(own.token) }
  }

  return (asked: VaultRequest, signal: AbortSignal): Promise<VaultAnswer> =>
    askTwice(async () => {
      const { answer, isStale } = await once(asked, signal)
      return isStale ? (await once(asked, signal)).answer : answer
    }, signal)
}
