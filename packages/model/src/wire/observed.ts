/** What the library's errors leave out of an HTTP exchange. */
export type Seen = { sent: boolean; cause?: unknown; retryAfterMs?: number }

/** The process's own fetch, and so its guard on dialling, with a note of what went wrong. */
export function observedFetch(seen: Seen): typeof globalThis.fetch {
  return async (input, init) => {
    seen.sent = true
    try {
      const response = await globalThis.fetch(input, init)
      if (!response.ok) seen.retryAfterMs = retryAfterMs(response.headers)
      return response
    } catch (cause) {
      seen.cause = cause
      throw cause
    }
  }
}

/** For the one client that takes no fetch: dials the endpoint once more to learn why it could not be reached. */
export async function dialCause(url: string, signal: AbortSignal): Promise<unknown> {
  try {
    const response = await globalThis.fetch(new URL(url).origin, { method: 'HEAD', signal })
    await response.body?.cancel()
    return undefined
  } catch (cause) {
    return cause
  }
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
