/** The kinds of settings that programs share. */
import type { SettingSchema, SettingKind } from './setting.ts'
import { maskUrl } from './mask-url.ts'

/** Units of `wholeNumber` and `decimal`. */
export const secondMs = 1_000
export const minuteMs = 60 * secondMs
export const hourMs = 60 * minuteMs
export const dayMs = 24 * hourMs
export const mebibyte = 1_048_576

const orList = (words: readonly string[]): string =>
  words.length < 2 ? words.join() : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`

const within =
  (digits: RegExp, least: number, most: number, unit: number) =>
  (text: string): number | undefined => {
    const value = Number(text)
    return digits.test(text) && value >= least && value <= most ? value * unit : undefined
  }

const inFileAs = (schema: SettingSchema) => ({ inFile: { type: 'text' as const, schema } })

export const text: SettingKind<string> = { form: 'a text', parse: (given) => given }

/** A whole number between bounds, times its unit. */
export const wholeNumber = (least: number, most: number, unit = 1): SettingKind<number> => ({
  form: `a whole number from ${least} to ${most}`,
  parse: within(/^\d+$/, least, most, unit),
  ...inFileAs({ type: 'integer', minimum: least, maximum: most }),
  example: String(least),
})

/** A number between bounds, fractions allowed, times its unit. */
export const decimal = (least: number, most: number, unit = 1): SettingKind<number> => ({
  form: `a number from ${least} to ${most}`,
  parse: within(/^\d+(\.\d+)?$/, least, most, unit),
  ...inFileAs({ type: 'number', minimum: least, maximum: most }),
})

/** A part of a whole, in any form that a number has. */
export const fraction: SettingKind<number> = {
  form: 'a number from 0 to 1',
  parse(given) {
    const value = Number(given)
    return value >= 0 && value <= 1 ? value : undefined
  },
  ...inFileAs({ type: 'number', minimum: 0, maximum: 1 }),
}

export const port: SettingKind<number> = { ...wholeNumber(0, 65_535), form: 'a port (0 to 65535)' }

export const choice = <const Word extends string>(words: readonly Word[]): SettingKind<Word> => ({
  form: orList(words),
  parse: (given) => words.find((word) => word === given),
  ...inFileAs({ enum: words }),
  ...(words[0] !== undefined && { example: words[0] }),
})

export const flag: SettingKind<boolean> = {
  form: 'true or false',
  parse: (given) => (given === 'true' ? true : given === 'false' ? false : undefined),
  ...inFileAs({ type: 'boolean' }),
}

const urlOf = (form: string, protocols: RegExp, example: string): SettingKind<string> => ({
  form,
  example,
  shown: maskUrl,
  parse: (given) =>
    URL.canParse(given) && protocols.test(new URL(given).protocol) ? given : undefined,
})

/** True: a name or a password in a URL can be read. */
export function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

export const httpUrl = urlOf('an http or https URL', /^https?:$/, 'https://steward.example.com')

const anyNatsUrl = urlOf(
  'a nats:// or tls:// URL',
  /^(nats|tls):$/,
  'nats://name:password@host:4222',
)
/** With a host. A `%` in the password is written `%25`. */
export const natsUrl: SettingKind<string> = {
  ...anyNatsUrl,
  parse(given) {
    const url = anyNatsUrl.parse(given)
    return url !== undefined && new URL(url).host !== '' && isDecodable(url) ? url : undefined
  },
}
export const smtpUrl = urlOf(
  'an smtp:// or smtps:// URL',
  /^smtps?:$/,
  'smtps://user:password@mail.example.com',
)
export const postgresUrl = urlOf(
  'a postgres:// URL',
  /^postgres(ql)?:$/,
  'postgres://user:password@host/steward',
)

export const textMatching = (form: string, pattern: RegExp): SettingKind<string> => ({
  form,
  parse: (given) => (pattern.test(given) ? given : undefined),
})

/** A setting whose settings file may hold a list. */
export const asList = { inFile: { type: 'list' } } as const

/** The parts of a list by comma, without spaces around them. */
export const splitList = (given: string): string[] =>
  given
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean)

/** Some of the words, by comma, in the order of `words`. */
export const choices = <const Word extends string>(
  words: readonly Word[],
): SettingKind<Word[]> => ({
  form: `a list of ${words.join(' and ')}`,
  inFile: { type: 'list', schema: { enum: words } },
  example: `[${words.join(', ')}]`,
  parse(given) {
    const named = splitList(given)
    const found = words.filter((word) => named.includes(word))
    return found.length === new Set(named).size ? found : undefined
  },
})
