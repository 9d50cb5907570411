import { createMask } from '@steward/mask/mask.ts'
import type { CloudFailure } from './identity.ts'

/** Shortest secret that is removed from messages, in bytes. */
const shortestSecret = 6
const longestMessage = 1_000
const longestChain = 6

type Stated = { status?: unknown; statusCode?: unknown; $metadata?: { httpStatusCode?: unknown } }

/** What went wrong, in the cloud's words. A program error is thrown on. */
export function cloudFailure(error: unknown, secrets: readonly string[]): CloudFailure {
  if (!(error instanceof Error)) throw error
  const said = wordsOf(error).join(': ')
  const clean = createMask(secrets, { least: shortestSecret })?.text(said) ?? said
  const status = statusOf(error)
  return {
    ok: false,
    message: clean.length <= longestMessage ? clean : `${clean.slice(0, longestMessage)}…`,
    retryable: status === undefined || status >= 500 || status === 429,
  }
}

/** The messages of an error and of its causes. Libraries wrap what the cloud said. */
function wordsOf(error: unknown, length = longestChain): string[] {
  if (!(error instanceof Error) || length === 0) return []
  const inner = error instanceof AggregateError ? error.errors[0] : error.cause
  const own = error.message.replaceAll(/\s+/g, ' ').trim() || error.name
  const further = wordsOf(inner, length - 1).filter((each) => !own.includes(each))
  return [own, ...further]
}

function statusOf(error: Error & Stated): number | undefined {
  const found = [error.status, error.statusCode, error.$metadata?.httpStatusCode].find(
    (each) => typeof each === 'number',
  )
  if (typeof found === 'number') return found
  return error.cause instanceof Error ? statusOf(error.cause) : undefined
}
