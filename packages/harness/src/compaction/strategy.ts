import type { Message, ModelCall, ToolSpec } from '@steward/model/model.ts'

/** The input of a strategy. */
export type SummarySubject = {
  /** System prompt and tools of the main request as it would be sent now. */
  system: string
  tools: readonly ToolSpec[]
  messages: readonly Message[]
  /** The session's id, under which its requests are cached. */
  cacheKey: string
  /** The part of `messages` that the summary replaces. */
  old: readonly Message[]
  /** The agent's prompt, which replaces the strategy's own. */
  prompt: string | null
  /** Largest size of a summary and of a transcript, in tokens. */
  summaryTokens: number
  transcriptTokens: number
}

/** Builds the request for the summary. */
export type SummaryStrategy = (subject: SummarySubject) => Omit<ModelCall, 'signal'>
