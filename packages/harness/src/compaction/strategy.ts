import type { Message, ModelCall, ToolSpec } from '@steward/model/model.ts'

/** What a strategy has to work with. */
export type Subject = {
  /** The main request as it would be sent now. */
  system: string
  tools: readonly ToolSpec[]
  messages: readonly Message[]
  /** The session's id, under which its requests are cached. */
  cacheKey: string
  /** Of `messages`, what the summary takes the place of. */
  old: readonly Message[]
  /** Replaces the strategy's own words, when the agent gives others. */
  prompt: string | null
  /** The most a summary may take, and what a transcript may, in tokens. */
  summaryTokens: number
  transcriptTokens: number
}

/** The request that asks for the summary. */
export type Strategy = (subject: Subject) => Omit<ModelCall, 'signal'>
