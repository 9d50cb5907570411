/** Limits of attempts at passwords and of emails, by person. */
import { RateLimitError } from '../../ground/core/errors.ts'
import { networkOf } from '../../ground/core/security/network.ts'
import type { Rate } from '../../ground/core/fairness/rates.ts'
import {
  letterRatesOf,
  passwordRates,
  passwordRatesOfKnownNetwork,
  usualRates,
} from '../../ground/core/fairness/rates.ts'
import type { PersonLimits } from '../people/people.ts'
import type { Buckets } from './buckets.ts'
import { toRatePace } from './gcra.ts'

export const unlimitedPeople: PersonLimits = {
  admitPassword: async () => {},
  admitLetter: async () => {},
}

export function peopleLimits(buckets: Buckets, mail: Rate = usualRates.mail): PersonLimits {
  /** Seconds until the next attempt where one of the rates is used up. */
  async function take(key: string, rates: readonly Rate[]): Promise<number | undefined> {
    let waitMs = 0
    for (const [at, rate] of rates.entries()) {
      const verdict = await buckets.take(`${key}/${at}`, toRatePace(rate))
      if (!verdict.isAdmitted) waitMs = Math.max(waitMs, verdict.retryMs, 1)
    }
    return waitMs === 0 ? undefined : Math.ceil(waitMs / 1_000)
  }

  return {
    async admitPassword(account, { address, isKnownNetwork }) {
      const key = `password/${account}`
      const again = await take(key, passwordRates)
      if (again === undefined) return
      const known = (await isKnownNetwork())
        ? await take(`${key}/${networkOf(address)}`, passwordRatesOfKnownNetwork)
        : again
      if (known !== undefined)
        throw new RateLimitError(
          `too many attempts at the password of this address: sign in with a code, or try again in ${secondsText(known)}`,
          known,
        )
    },
    async admitLetter(email, { address, isKnownNetwork }) {
      const again = await take(`letter/${email}`, letterRatesOf(mail))
      if (again === undefined) return
      const known = (await isKnownNetwork())
        ? await take(`letter/${email}/${networkOf(address)}`, letterRatesOf(mail))
        : again
      if (known !== undefined)
        throw new RateLimitError(
          `too many emails to this address: use the newest one, or try again in ${secondsText(known)}`,
          known,
        )
    },
  }
}

const secondsText = (seconds: number): string => (seconds === 1 ? '1 second' : `${seconds} seconds`)
