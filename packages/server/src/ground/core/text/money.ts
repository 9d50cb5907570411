/** Money is stored as whole millionths of a US dollar (units) and shown as text in cents. */

const unitsOfCent = 10_000

export type Money = { amount: string; currency: 'USD' }

/** Whole cents, rounded half up. */
export const inCents = (units: number): Money => ({
  amount: String(Math.floor((units + unitsOfCent / 2) / unitsOfCent)),
  currency: 'USD',
})

/** The exact amount: cents with up to four decimals. */
export const inExactCents = (units: number): Money => {
  const rest = String(units % unitsOfCent)
    .padStart(4, '0')
    .replace(/0+$/, '')
  const whole = String(Math.floor(units / unitsOfCent))
  return { amount: rest === '' ? whole : `${whole}.${rest}`, currency: 'USD' }
}

export const centsToUnits = (cents: string): number => Number(cents) * unitsOfCent
