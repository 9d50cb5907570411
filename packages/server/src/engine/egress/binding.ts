/** Whose call it is, and the words that the files of this room share. */
import type { TakingGate } from '@steward/gate/gate.ts'
import type { Refusal } from '@steward/gate/outbound.ts'
import type { Notice } from '@steward/harness/turn.ts'
import type { EnvironmentRecord } from '@steward/protocol/environments.ts'

/** Who asks: the proxy's route, the harness, the sandbox. [proxy/log/caller] */
export type OutboundCaller = 'http' | 'rpc-mcp' | 'rpc-outbound'

/** What a call stands on. It holds no secret and names no vault: those of the session are read with each call. */
export type Binding = {
  tenant: string
  session: string
  environment: EnvironmentRecord
  /** The run lease that the sandbox belongs to; null for a caller with a key of its own, and where a claim stands. */
  generation: number | null
  /** Of the worker whose sandbox it is. */
  claim?: ClaimRef
}

export type ClaimRef = { environmentId: string; workId: string; generation: number }

/** As the platform's `fetch`. Rejects with `Refused` for what was not sent. */
export type OutboundFetch = (url: string | URL, init?: RequestInit) => Promise<Response>

export type OpenedGate = {
  /** Path of the unix socket. */
  socket: string
  /** Path of a PEM bundle: the public roots and the authority of this process. */
  certificates: string
  /** Placeholders by the names of their variables. */
  env: Record<string, string>
  close(): Promise<void>
}

/** A session's ways out. Every one of them ends with `revoke`. */
export interface SessionEgress {
  /** With the server's inline token, else the credential of its URL. */
  mcpFetch(server: {
    name: string
    url: string
    authorization_token?: string | null
  }): OutboundFetch
  /** Judged by the environment's lists; `credentials: false` for web_fetch and web_search. */
  outboundFetch(options: { credentials: boolean }): OutboundFetch
  /** To the operator's search engine, and nowhere else: dialled as the operator's endpoints may be. */
  searchFetch(): OutboundFetch
  /** A sandbox's only way out, on a socket in this folder. */
  openGate(folder: string, uid?: number): Promise<OpenedGate>
  /** For connections of a sandbox elsewhere, which are brought to it. */
  takingGate(): TakingGate
  /** Placeholders by the names of their variables. */
  placeholders(): Promise<Record<string, string>>
  /** Variables for one single simple command, given as its words. */
  commandSecrets(words: readonly string[]): Promise<Record<string, string>>
  /** Refusals since the last call. */
  takeRefusals(): Refusal[]
  /** What else whoever reads the session's log should know of its calls, since the last call. */
  takeNotices(): Notice[]
  /** After this process has claimed the session anew. */
  renew(generation: number): void
  /** Before the sandbox is cleaned up: every later call is refused, and open ones end. */
  revoke(): void
}

export type Profile = 'required' | 'best_effort' | 'disabled'
