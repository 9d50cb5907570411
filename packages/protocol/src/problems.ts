/** What is wrong with a value, in words for a person. Each stands behind the name of its field: `limit: must be at most 1000`. */
import type { z } from 'zod'

type Issue = z.core.$ZodRawIssue

const kinds: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  nan: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  tuple: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
  undefined: 'left out',
}

const formats: Record<string, string> = {
  datetime: 'a time such as 2026-01-31T12:00:00Z',
  url: 'a URL',
}

/** Units of what has a length; a number has none. */
const units: Record<string, [one: string, many: string]> = {
  string: ['character', 'characters'],
  array: ['item', 'items'],
  record: ['field', 'fields'],
}

const must = (be: string): string => `must be ${be}`

function sizeProblem(
  { origin, exact, inclusive }: { origin: string; exact?: boolean; inclusive?: boolean },
  way: 'least' | 'most',
  size: number | bigint,
): string {
  const unit = units[origin]
  if (unit && way === 'least' && Number(size) === 1) return 'must not be empty'
  const measure = unit ? `${size} ${unit[size === 1 ? 0 : 1]}` : String(size)
  const verb = unit && origin !== 'string' ? 'must have' : 'must be'
  const long = origin === 'string' ? `${measure} long` : measure
  if (exact) return `${verb} exactly ${long}`
  if (!unit && inclusive === false) return must(`${way === 'least' ? 'above' : 'below'} ${size}`)
  return `${verb} at ${way} ${long}`
}

const listed = (values: readonly unknown[]): string =>
  values.length === 1 ? String(values[0]) : `one of ${values.map(String).join(', ')}`

const otherForm = 'has a form that is not taken here'

/** Of a union whose branches are told apart by one field: the path of the issue ends with that field. */
function unionProblem({
  input,
  discriminator,
  options,
}: Issue & { code: 'invalid_union' }): string {
  if (!discriminator || !Array.isArray(options)) return otherForm
  const isGiven = typeof input === 'object' && input !== null && discriminator in input
  return `${isGiven ? 'must be' : 'is required:'} ${listed(options)}`
}

/** For the schemas that bring no words of their own. Never repeats the value: it may be a secret. */
export function describeProblem(issue: Issue): string {
  if (issue.input === undefined && issue.code !== 'custom') return 'is required'
  switch (issue.code) {
    case 'invalid_type':
      return must(kinds[issue.expected] ?? `of type ${issue.expected}`)
    case 'invalid_value':
      return must(listed(issue.values.map((value) => (value === '' ? 'empty' : value))))
    case 'too_small':
      return sizeProblem(issue, 'least', issue.minimum)
    case 'too_big':
      return sizeProblem(issue, 'most', issue.maximum)
    case 'invalid_format': {
      const form = formats[issue.format]
      return form ? must(form) : otherForm
    }
    case 'not_multiple_of':
      return must(`a multiple of ${issue.divisor}`)
    case 'invalid_union':
      return unionProblem(issue)
    case 'invalid_key':
      return `has a name that ${issue.issues[0]?.message ?? 'is not taken here'}`
    default:
      return otherForm
  }
}
