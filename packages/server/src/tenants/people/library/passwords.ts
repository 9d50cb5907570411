/** Hashes passwords one at a time: each hash occupies one of the few threads that also write commits to disk. */
import { hashPassword, verifyPassword } from 'better-auth/crypto'
import { RateLimitError } from '../../../ground/core/errors.ts'

/** Bound of waiting hashes, each of which takes a tenth of a second or more. */
const mostWaiting = 20
const againSeconds = 2

type Passwords = {
  hash: (password: string) => Promise<string>
  verify: (given: { hash: string; password: string }) => Promise<boolean>
}

/** Rejects with a `RateLimitError` when `mostWaiting` hashes wait. */
export function passwordsInTurn(
  { hash, verify }: Passwords = { hash: hashPassword, verify: verifyPassword },
): Passwords {
  let waiting = 0
  let last: Promise<unknown> = Promise.resolve()

  async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (waiting >= mostWaiting)
      throw new RateLimitError('many people sign in at this moment: try again', againSeconds)
    waiting++
    const done = last.then(work)
    last = done.catch(() => {})
    return done.finally(() => waiting--)
  }

  return {
    hash: (password) => inTurn(() => hash(password)),
    verify: (given) => inTurn(() => verify(given)),
  }
}
