/** How a session's context is compacted. */
export const strategyNames = ['isolated-basic', 'isolated-structured', 'summarize'] as const
export type StrategyName = (typeof strategyNames)[number]

export type Compaction = {
  strategy: StrategyName
  /** Share of the model's context at which it begins; null: only when the provider refuses a request as too long. */
  triggerFraction: number | null
  /** Null: a share of the model's context, see `summaryTokens`. */
  maxSummaryTokens: number | null
  /** Null: the strategy's own. */
  summaryPrompt: string | null
}

/** Of an agent that says nothing of it, with the default harness. */
export const onlyWhenFull: Compaction = {
  strategy: 'isolated-basic',
  triggerFraction: null,
  maxSummaryTokens: null,
  summaryPrompt: null,
}

const usualFraction = 0.8

/**
 * The keys of an agent's metadata. They are checked where an agent is written; a value that is no use here all the
 * same counts as absent, and a strategy without its name as the first one.
 */
export function compactionOf({
  harness,
  metadata,
}: {
  harness: string
  metadata: Record<string, unknown>
}): Compaction {
  if (harness !== 'native') return onlyWhenFull
  const {
    compaction_strategy: strategy,
    compaction_trigger_fraction: fraction,
    compaction_max_summary_tokens: tokens,
    compaction_summary_prompt: prompt,
  } = metadata
  const [share, count] = [numberIn(fraction), numberIn(tokens)]
  return {
    strategy: strategyNames.find((name) => name === strategy) ?? 'isolated-basic',
    triggerFraction: share > 0 && share <= 1 ? share : usualFraction,
    maxSummaryTokens: Number.isInteger(count) && count > 0 ? count : null,
    summaryPrompt: typeof prompt === 'string' && prompt.trim() !== '' ? prompt : null,
  }
}

/** Typed clients write numbers as text; NaN for what is none. */
const numberIn = (value: unknown): number =>
  typeof value === 'number' || typeof value === 'string' ? Number(value) : Number.NaN

const mostSummaryTokens = 8_000

/** The most a summary may take of this model: never more than it can write, nor half of what it can read. */
export function summaryTokens(
  { maxSummaryTokens }: Compaction,
  { contextWindow, maxOutputTokens }: { contextWindow: number; maxOutputTokens: number },
): number {
  const wanted = maxSummaryTokens ?? Math.min(mostSummaryTokens, contextWindow / 8)
  return Math.max(1, Math.floor(Math.min(wanted, maxOutputTokens, contextWindow / 2)))
}
