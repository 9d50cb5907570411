/** Rates of requests by class, and the setting that names them. */
import type { RateUnit } from '@steward/protocol/rate-limits.ts'
import { rateUnits } from '@steward/protocol/rate-limits.ts'
import { dayMs, hourMs, splitList, minuteMs, secondMs } from '@steward/base/settings/kinds.ts'

/** At most `limit` requests at once, and `limit` more in each further period. */
export type Rate = { limit: number; periodMs: number }

/** Classes of a workspace's requests. Each request has one class. */
export const requestClasses = ['reads', 'writes', 'sessions', 'uploads', 'messages'] as const
export type RequestClass = (typeof requestClasses)[number]

/** Classes that are counted by IP address, `mail` by mail address. `failures`: credentials that are refused. */
export const addressClasses = ['sign_in', 'mail', 'failures'] as const
export type AddressClass = (typeof addressClasses)[number]

export type RateClass = RequestClass | AddressClass
export type Rates = Partial<Record<RateClass, Rate>>

const perMinute = (limit: number): Rate => ({ limit, periodMs: minuteMs })

/** Defaults: they stop a runaway loop, and a team at work does not reach them. */
export const usualRates = {
  reads: perMinute(6_000),
  writes: perMinute(3_000),
  sessions: perMinute(600),
  uploads: perMinute(600),
  messages: perMinute(600),
  sign_in: perMinute(60),
  mail: perMinute(5),
  failures: perMinute(600),
} as const satisfies Record<RateClass, Rate>

/** Attempts at the password of one account: ten at once and one a minute, 50 within hours and then one an hour. */
export const passwordRates: readonly Rate[] = [
  { limit: 10, periodMs: 10 * minuteMs },
  { limit: 50, periodMs: 50 * hourMs },
]
/** The same from a network from which the person has signed in. */
export const passwordRatesOfKnownNetwork: readonly Rate[] = [{ limit: 30, periodMs: 30 * minuteMs }]

/** Letters to one address: the rate of mails, three times its limit an hour, and eight times its limit a day. */
export const letterRatesOf = (mail: Rate): readonly Rate[] => [
  mail,
  { limit: mail.limit * 3, periodMs: hourMs },
  { limit: mail.limit * 8, periodMs: dayMs },
]

const periods: Record<RateUnit, number> = {
  second: secondMs,
  minute: minuteMs,
  hour: hourMs,
  day: dayMs,
}
const letters: Readonly<Record<string, RateUnit>> = {
  s: 'second',
  m: 'minute',
  h: 'hour',
  d: 'day',
}

export function unitOf({ periodMs }: Rate): RateUnit {
  const unit = rateUnits.find((each) => periods[each] === periodMs)
  if (!unit) throw new Error(`no unit of rates is ${periodMs} ms`)
  return unit
}

const mostRequests = 1_000_000

/** Parses `60/m`. The message of the error says how to write a rate. */
export function parseRate(text: string): Rate {
  const [, digits, letter = ''] = /^(\d+)\/([smhd])$/.exec(text) ?? []
  const [limit, unit] = [Number(digits), letters[letter]]
  if (!unit)
    throw new Error(
      `${JSON.stringify(text)} is not a rate: write a number, a slash and s, m, h or d, such as 60/m`,
    )
  if (limit < 1 || limit > mostRequests)
    throw new Error(`${JSON.stringify(text)} is not a rate: allow 1 to ${mostRequests} requests`)
  return { limit, periodMs: periods[unit] }
}

const rateClasses: readonly RateClass[] = [...requestClasses, ...addressClasses]

function parsePart(part: string): [RateClass, Rate] {
  const [name, rate, ...rest] = part.split(':')
  const found = rateClasses.find((each) => each === name)
  if (!found || rate === undefined || rest.length > 0)
    throw new Error(
      `${JSON.stringify(part)} is not class:rate; the classes are ${rateClasses.join(', ')}`,
    )
  return [found, parseRate(rate)]
}

/** Parses `writes:60/m,reads:600/m`, or `off`. The message of the error names the wrong part. */
export function parseRates(text: string): Rates | 'off' {
  if (text === 'off') return 'off'
  const parts = splitList(text).map(parsePart)
  const names = parts.map(([name]) => name)
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (parts.length === 0) throw new Error('no class is named; write off for no limits')
  if (twice) throw new Error(`${twice} is named twice`)
  return Object.fromEntries(parts)
}
