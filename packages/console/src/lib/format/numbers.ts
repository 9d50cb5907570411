/** Numbers as people read them: `81.2k`, `$0.214`, `1,284`. */
const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })

export const formatCount = (count: number): string => whole.format(count)

const units: [size: number, letter: string][] = [
  [1e9, 'G'],
  [1e6, 'M'],
  [1e3, 'k'],
]

/** Three digits at least, and a letter for thousands: 6.1k, 81.2k, 122k, 1.32M. */
export function formatTokens(tokens: number): string {
  const unit = units.find(([size]) => tokens >= size)
  if (!unit) return whole.format(tokens)
  const value = tokens / unit[0]
  const digits = value < 100 ? 1 : 0
  return `${value.toFixed(digits)}${unit[1]}`
}

const byteUnits = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']

/** Three digits at most: 512 bytes, 4.2 MiB, 100 GiB. */
export function formatBytes(bytes: number): string {
  let [value, unit] = [bytes, 0]
  for (; value >= 999.5 && unit < byteUnits.length - 1; unit++) value /= 1_024
  const digits = unit === 0 || value >= 99.95 || Number.isInteger(value) ? 0 : value < 9.995 ? 2 : 1
  return `${value.toFixed(digits)} ${byteUnits[unit] ?? ''}`
}

/** Dollars with as many digits as say something: $0.0004, $0.214, $18.42, $1,204. */
export function formatCost(dollars: number): string {
  if (dollars === 0) return '$0.00'
  if (dollars < 0.001) return `$${dollars.toPrecision(1)}`
  if (dollars < 10) return `$${dollars.toFixed(3)}`
  if (dollars < 1000) return `$${dollars.toFixed(2)}`
  return `$${whole.format(dollars)}`
}

/** A price in dollars, to the cent or with as many digits as it has: $3.00, $0.075. */
export function formatPrice(dollars: number): string {
  const cents = dollars.toFixed(2)
  return Number(cents) === dollars ? `$${cents}` : `$${dollars}`
}
