/** Requests to secret managers and key services: bounded, in time, and by the connections that the caller chooses. */

export type WireRequest = {
  method: 'GET' | 'POST'
  url: URL
  /** SECRET: never logged. */
  headers: Record<string, string>
  /** SECRET: never logged. */
  body?: string
}

/** Why there is nothing. `words` are for people: they never hold a secret. */
export type ManagerFailure = {
  ok: false
  why:
    /** No answer in time, or one that says to come later. */
    | 'away'
    /** The manager does not accept who the server says to be. */
    | 'sign_in'
    | 'denied'
    | 'missing'
    /** The manager answers something else than was asked for. */
    | 'malformed'
    | 'too_large'
  words: string
}

/** SECRET: never logged: the text of an answer may be one. */
export type WireAnswer = { ok: true; status: number; text: string } | ManagerFailure

/** Sends one request. What the network does is a value; a request is not repeated. */
export type ManagerWire = (request: WireRequest, signal: AbortSignal) => Promise<WireAnswer>

export const failure = (why: ManagerFailure['why'], words: string): ManagerFailure => ({
  ok: false,
  why,
  words,
})

const longestWords = 300

/** What a manager says about a failure: short, and of one line. */
export const clippedWords = (text: string): string =>
  text
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, longestWords)
    .toWellFormed()

/** The failure that a status stands for, where the manager says nothing else. */
export function failureOfStatus(status: number, words: string): ManagerFailure {
  const said =
    words === '' ? `it answers ${status}` : `it answers ${status}: ${clippedWords(words)}`
  if (status === 401) return failure('sign_in', said)
  if (status === 403) return failure('denied', said)
  if (status === 404) return failure('missing', said)
  // A server that stands by names the active one, which the address has to lead to.
  if (status >= 300 && status < 400) return failure('away', said)
  if (status === 408 || status === 429 || status >= 500) return failure('away', said)
  return failure('malformed', said)
}

export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const attempts = 2

/** Asks once more where the manager is away: its servers take turns, and connections end. */
export async function askTwice<Answer extends { ok: true } | ManagerFailure>(
  ask: () => Promise<Answer>,
  signal: AbortSignal,
): Promise<Answer> {
  for (let attempt = 1; ; attempt++) {
    const answer = await ask()
    const isAway = !answer.ok && answer.why === 'away'
    if (!isAway || attempt === attempts || signal.aborted) return answer
  }
}
