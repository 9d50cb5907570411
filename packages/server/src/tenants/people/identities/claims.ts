/** Claims of a token, and patterns over their values. */
import { globMatcher } from '../../../ground/core/text/glob.ts'

export type Claims = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Claims =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * The claim of this name. Some names have dots in them (`https://acme.example/groups`), and others lead into an object
 * (`realm_access.roles`, `kubernetes.io.namespace`).
 */
export function findClaim(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name]
  for (let dot = name.indexOf('.'); dot > 0; dot = name.indexOf('.', dot + 1)) {
    const outer = Object.hasOwn(claims, name.slice(0, dot)) ? claims[name.slice(0, dot)] : undefined
    const found = isObject(outer) ? findClaim(outer, name.slice(dot + 1)) : undefined
    if (found !== undefined) return found
  }
  return undefined
}

/** Most values of one claim that are compared. */
const mostValues = 10_000

/** The texts of a claim: one, or those of a list. */
export function claimTexts(claims: Claims, name: string): string[] {
  const found = findClaim(claims, name)
  const all: unknown[] = Array.isArray(found) ? found.slice(0, mostValues) : [found]
  return all.flatMap((each) =>
    ['string', 'number', 'boolean'].includes(typeof each) ? [String(each)] : [],
  )
}

/** The text of a claim that is one text. */
export function claimText(claims: Claims, name: string): string | undefined {
  const found = findClaim(claims, name)
  return typeof found === 'string' || typeof found === 'number' ? String(found) : undefined
}

/** `*` in a pattern stands for any run of characters. */
export const matchesAny = (patterns: readonly string[], texts: readonly string[]): boolean =>
  patterns.map(globMatcher).some((matches) => texts.some(matches))
