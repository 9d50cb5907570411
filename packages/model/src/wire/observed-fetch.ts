import { AsyncLocalStorage } from 'node:async_hooks'
import { type AnswerPassage, type RefusedAnswer, boundedAnswer } from './bounded-answer.ts'

export type ProcessFetch = typeof globalThis.fetch

/** Details of an HTTP exchange that the library's errors leave out. */
export type HttpObservation = { sent: boolean; cause?: unknown; retryAfterMs?: number }

/** The process's own fetch, whose dials are guarded. */
export const processFetch = globalThis.fetch

/**
 * A fetch that bounds answers, follows no redirects, because these could carry a key elsewhere, and records failures.
 */
export function observedFetch(
  seen: HttpObservation,
  passage?: AnswerPassage,
  transport: ProcessFetch = processFetch,
): ProcessFetch {
  return async (input, init) => {
    seen.sent = true
    try {
      const response = await transport(input, { ...init, redirect: 'manual' })
      if (!response.ok) seen.retryAfterMs = retryAfterMs(response.headers)
      passage?.alive()
      const refused = (error: RefusedAnswer) => (seen.cause = error)
      return await boundedAnswer(response, { refused, ...(passage && { passage }) })
    } catch (cause) {
      seen.cause = cause
      throw cause
    }
  }
}

const ambientFetch = new AsyncLocalStorage<ProcessFetch>()

/** Replaces the global fetch for `run` and everything that it starts. For the one client that accepts no fetch. */
export function withFetch<T>(fetch: ProcessFetch, run: () => T): T {
  if (globalThis.fetch === processFetch) {
    globalThis.fetch = (input, init) => (ambientFetch.getStore() ?? processFetch)(input, init)
  }
  return ambientFetch.run(fetch, run)
}

function retryAfterMs(headers: Headers): number | undefined {
  const exact = Number.parseFloat(headers.get('retry-after-ms') ?? '')
  if (exact >= 0) return exact
  const given = headers.get('retry-after')
  if (given === null) return undefined
  const seconds = Number.parseFloat(given)
  const ms = Number.isNaN(seconds) ? Date.parse(given) - Date.now() : seconds * 1000
  return ms >= 0 ? Math.ceil(ms) : undefined
}
