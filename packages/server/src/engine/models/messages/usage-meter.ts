/** What an answer has used: by the provider's words, and by its length where the answer broke off before the last of them. */
import type { Usage } from '@steward/model/model.ts'
import { noUsage } from '@steward/model/model.ts'
import { z } from 'zod'

const count = z.number().min(0).max(1e8).transform(Math.ceil).nullish().catch(undefined)
const Counted = z.object({
  input_tokens: count,
  output_tokens: count,
  cache_read_input_tokens: count,
  cache_creation_input_tokens: count,
})

/** Bytes of an answer for which a token is taken where nobody has counted. */
const bytesPerToken = 3.5

export type UsageMeter = {
  /** The model has begun to answer. */
  begin: () => void
  /** Takes a count of the provider. Later counts win. */
  saw: (usage: unknown) => void
  /** Bytes of content, about. */
  grew: (bytes: number) => void
  /** The answer is over, and all that it used was seen, or is given. */
  end: (usage?: Usage) => void
  /** The caller went away: the model may have read the request, also where nothing of its answer has come. */
  leave: () => void
  read: () => Usage
  outcome: () => 'answered' | 'interrupted' | 'failed'
}

/** `inputTokens`: an estimate, which counts where the provider has said nothing. */
export function usageMeter(inputTokens: number): UsageMeter {
  let usage = noUsage
  let bytes = 0
  let [isBegun, isWhole, isLeft] = [false, false, false]
  const inputOf = () =>
    usage.input_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens
  return {
    begin: () => void (isBegun = true),
    saw(said) {
      const read = Counted.safeParse(said)
      if (!read.success) return
      const given = Object.entries(read.data).filter(([, tokens]) => typeof tokens === 'number')
      usage = { ...usage, ...Object.fromEntries(given) }
    },
    grew: (more) => void (bytes += more),
    end(said = usage) {
      usage = said
      isWhole = true
    },
    leave() {
      isBegun = true
      isLeft = true
    },
    outcome() {
      if (isWhole) return 'answered'
      return isLeft ? 'interrupted' : 'failed'
    },
    read() {
      if (isWhole || !isBegun) return usage
      const written = Math.ceil(bytes / bytesPerToken)
      return {
        ...usage,
        input_tokens: inputOf() > 0 ? usage.input_tokens : Math.ceil(inputTokens),
        output_tokens: Math.max(usage.output_tokens, written),
      }
    },
  }
}
