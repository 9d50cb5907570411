/** Settings for compacting a session's context. */
export const strategyNames = ['isolated-basic', 'isolated-structured', 'summarize'] as const
export type StrategyName = (typeof strategyNames)[number]

export type Compaction = {
  strategy: StrategyName
  /**
   * Share of the model's context at which compaction begins. Null: only after the provider refused a request as too
   * long.
   */
  triggerFraction: number | null
  /** Null: a share of the model's context, see `summaryTokens`. */
  maxSummaryTokens: number | null
  /** Null: the strategy's prompt. */
  summaryPrompt: string | null
}

/** The settings of an agent with the default harness that says nothing about compaction. */
export const onlyWhenFull: Compaction = {
  strategy: 'isolated-basic',
  triggerFraction: null,
  maxSummaryTokens: null,
  summaryPrompt: null,
}

const usualFraction = 0.8

/**
 * Reads the settings from an agent's metadata. The metadata are validated when an agent is written. An unusable value
 * still counts as absent, and an unknown strategy as the first one.
 */
export function readCompaction({
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

/** Typed clients send numbers as text. NaN when the value is no number. */
const numberIn = (value: unknown): number =>
  typeof value === 'number' || typeof value === 'string' ? Number(value) : Number.NaN

const mostSummaryTokens = 8_000

/** Most tokens of a summary for this model: at most its output limit, and at most half of its context. */
export function summaryTokens(
  { maxSummaryTokens }: Compaction,
  { contextWindow, maxOutputTokens }: { contextWindow: number; maxOutputTokens: number },
): number {
  const wanted = maxSummaryTokens ?? Math.min(mostSummaryTokens, contextWindow / 8)
  return Math.max(1, Math.floor(Math.min(wanted, maxOutputTokens, contextWindow / 2)))
}
