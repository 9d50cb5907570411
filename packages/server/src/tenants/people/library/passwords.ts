/** Hashes passwords one at a time: each hash occupies one of the few threads that also write commits to disk. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { hashPassword, verifyPassword } from 'better-auth/crypto'
import type { Clock } from '@steward/base/time.ts'
import { RateLimitError } from '../../../ground/core/errors.ts'
import { networkOf, wideNetworkOf } from '../../../ground/core/security/network.ts'
import { fadingCounts } from './fading-counts.ts'

/** Bound of waiting hashes, each of which takes a tenth of a second or more. */
const mostWaiting = 20
/** Of the wide network of an IPv6 address, which one customer of a provider may own. */
const mostOfWideNetwork = 4
const againSeconds = 2

type Passwords = {
  hash: (password: string) => Promise<string>
  verify: (given: { hash: string; password: string }) => Promise<boolean>
}

/**
 * Whose hash it is. `account`: the email or the id of the person whose password is guessed; undefined for a new password,
 * which only the holder of a link or of a sign-in sets.
 */
export type PasswordAttempt = { address: string; account: string | undefined }

type WaitingHash = {
  network: string
  wide: string | undefined
  account: string | undefined
  start: () => void
  putOut: () => void
}

/**
 * One hash runs, and one waits for each network and for each account. Attack: strangers fill the queue so that nobody
 * signs in. So the one whose network has failed least comes next, and the one that has failed most is put out first.
 */
export function passwordsInTurn(
  clock: Pick<Clock, 'now'>,
  { hash, verify }: Passwords = { hash: hashPassword, verify: verifyPassword },
) {
  const attempts = new AsyncLocalStorage<PasswordAttempt>()
  const failures = fadingCounts(clock)
  let waiting: WaitingHash[] = []
  let isRunning = false

  /** A wide network has many people, so that its failures weigh less. */
  const failuresOf = ({ network, wide }: WaitingHash): number =>
    Math.max(failures.get(network), wide === undefined ? 0 : failures.get(wide) / mostOfWideNetwork)

  const mostFailed = (among: readonly WaitingHash[]): WaitingHash | undefined =>
    among.toSorted((one, other) => failuresOf(other) - failuresOf(one))[0]

  /** The waiting hashes in whose place the new one would wait. */
  function rivalsOf({ network, wide, account }: WaitingHash): WaitingHash[] {
    const guesses =
      account === undefined ? [] : waiting.filter((each) => each.account !== undefined)
    const same = guesses.filter((each) => each.network === network || each.account === account)
    const wideOnes =
      wide === undefined || account === undefined
        ? []
        : waiting.filter((each) => each.wide === wide)
    const full = [
      ...(wideOnes.length >= mostOfWideNetwork ? [mostFailed(wideOnes)] : []),
      ...(waiting.length >= mostWaiting ? [mostFailed(waiting)] : []),
    ].filter((each) => each !== undefined)
    return [...new Set([...same, ...(same.length > 0 ? [] : full)])]
  }

  function admit(each: WaitingHash): void {
    const rivals = rivalsOf(each)
    if (rivals.some((rival) => failuresOf(rival) <= failuresOf(each))) throw busy()
    waiting = waiting.filter((other) => !rivals.includes(other))
    for (const rival of rivals) rival.putOut()
    waiting.push(each)
  }

  function startNext(): void {
    if (isRunning) return
    const next = waiting.toSorted((one, other) => failuresOf(one) - failuresOf(other))[0]
    if (!next) return
    waiting = waiting.filter((each) => each !== next)
    isRunning = true
    next.start()
  }

  async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const attempt = attempts.getStore()
    if (!attempt) throw new Error('a password is hashed outside of an attempt')
    const { promise: turn, resolve: start, reject } = Promise.withResolvers<void>()
    const who = {
      network: networkOf(attempt.address),
      wide: wideNetworkOf(attempt.address),
      account: attempt.account,
    }
    admit({ ...who, start, putOut: () => reject(busy()) })
    startNext()
    await turn
    try {
      return await work()
    } finally {
      isRunning = false
      startNext()
    }
  }

  return {
    hash: (password: string) => inTurn(() => hash(password)),
    verify: (given: { hash: string; password: string }) => inTurn(() => verify(given)),
    /** Runs work that hashes passwords for this attempt. */
    as: <T>(attempt: PasswordAttempt, work: () => Promise<T>): Promise<T> =>
      attempts.run(attempt, work),
    /** Notes that the attempt named a wrong password. */
    noteFailure({ address }: Pick<PasswordAttempt, 'address'>): void {
      failures.add(networkOf(address))
      const wide = wideNetworkOf(address)
      if (wide !== undefined) failures.add(wide)
    },
  }
}

const busy = () => new RateLimitError('many people sign in at this moment: try again', againSeconds)
