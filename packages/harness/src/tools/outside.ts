/** Ways out of the service that tools are given. All of them are judged by the session's egress. */
import type { Refusal } from '@steward/gate/outbound.ts'
import { Refused } from '@steward/gate/outbound.ts'
import type { Fetch } from './fetch.ts'
import type { SearchProvider } from './web-search/provider.ts'

export type { Fetch }

export type ToolEgress = {
  /** Adds the credential of the host it goes to. For custom tools that the service calls. */
  outbound: Fetch
  /** Null where the web tools are not offered. */
  web: Web | null
  /**
   * Variables for one command that was found to be simple, by its words; none when no credential is for it. They
   * are secret, and must be seen by that command's process alone.
   */
  commandSecrets: (words: readonly string[]) => Promise<Record<string, string>>
}

export type Web = {
  /** Never adds a credential. */
  fetch: Fetch
  /** Null when the operator has set up none: calls fail with words that say so. */
  search: SearchProvider | null
}

/** What egress said of a request that it did not send. */
export function refusalIn(error: unknown): Refusal | undefined {
  for (let at = error; at instanceof Error; at = at.cause)
    if (at instanceof Refused) return at.refusal
  return undefined
}

/** For people and models: a refusal, or else the reason that lies deepest. Never more than some lines. */
export function reasonOf(error: unknown): string {
  const refusal = refusalIn(error)
  if (refusal) return `egress denied: ${refusal.host} (${refusal.reason}: ${refusal.message})`
  let last = error
  while (last instanceof Error && last.cause !== undefined) last = last.cause
  const text = (last instanceof Error ? last.message : String(last)).trim()
  if (text === '') return 'no reason was given'
  return text.length > longestReason ? `${text.slice(0, longestReason).toWellFormed()}…` : text
}
const longestReason = 500

/** At most so many bytes; whoever wants no more ends the body. */
export async function bytesOf(
  { body }: Response,
  most: number,
): Promise<{ bytes: Buffer; isWhole: boolean }> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of body ?? []) {
    pieces.push(piece)
    size += piece.length
    if (size > most) break
  }
  return { bytes: Buffer.concat(pieces).subarray(0, most), isWhole: size <= most }
}
