/** Access of tools to the outside. The session's egress decides on every request. */
import type { GateRefusal } from '@steward/gate/outbound.ts'
import { RequestRefused } from '@steward/gate/outbound.ts'
import type { GuardedFetch } from './fetch.ts'
import type { SearchProvider } from './web-search/provider.ts'

export type { GuardedFetch }

export type ToolEgress = {
  /** Adds the credential of the host. For custom tools that the service calls. */
  outbound: GuardedFetch
  /** Null when the web tools are not offered. */
  web: WebAccess | null
  /**
   * Environment variables for one simple command, given as its words; empty without a matching credential. The values
   * are secret, and only that command's process may see them.
   */
  commandSecrets: (words: readonly string[]) => Promise<Record<string, string>>
}

export type WebAccess = {
  /** Never adds a credential. */
  fetch: GuardedFetch
  /**
   * Waits for a slot in which one page is converted, which may take seconds of a processor. The returned function
   * leaves the slot. Rejects with the signal's reason.
   */
  conversionSlot: (signal: AbortSignal) => Promise<() => void>
  /** Null when the operator has configured no search engine: calls then fail with a sentence that says so. */
  search: SearchProvider | null
}

/** The refusal within an error of a request that the egress did not send. */
export function refusalIn(error: unknown): GateRefusal | undefined {
  for (let at = error; at instanceof Error; at = at.cause)
    if (at instanceof RequestRefused) return at.refusal
  return undefined
}

/** A reason for people and models: the refusal, otherwise the innermost cause. At most some lines. */
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

/** At most `most` bytes; the rest of the body is dropped. */
export async function readBodyBytes(
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
