/** Amounts as people type them, with commas or spaces too. Undefined for what is no amount. */
const plain = (typed: string): string => typed.replaceAll(/[\s,]/g, '')

export function wholeOf(typed: string): number | undefined {
  const digits = plain(typed)
  return /^\d{1,15}$/.test(digits) ? Number(digits) : undefined
}

/** Cents of dollars with two decimals at most. */
export function centsOf(typed: string): number | undefined {
  const [, whole = '', cents = ''] = /^\$?(\d{1,9})(?:\.(\d{1,2}))?$/.exec(plain(typed)) ?? []
  return whole === '' ? undefined : Number(whole) * 100 + Number(cents.padEnd(2, '0'))
}

const bytesInMebibyte = 1_048_576

/** Bytes of mebibytes. */
export function bytesOf(typed: string): number | undefined {
  const digits = plain(typed)
  return /^\d{1,9}(?:\.\d+)?$/.test(digits)
    ? Math.round(Number(digits) * bytesInMebibyte)
    : undefined
}

/** The same the other way, for a field. */
export const mebibytesOf = (bytes: number): string =>
  String(Math.round((bytes / bytesInMebibyte) * 1_000) / 1_000)
