/** Problems of a value, as sentences for a person. The name of the field comes first: `limit: must be at most 1000`. */
import type { z } from 'zod'

type ZodIssue = z.core.$ZodRawIssue

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
  email: 'an email address',
  url: 'a URL',
}

/** Units of values that have a length. Numbers have no unit. */
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

/** The allowed forms, when the branches of a union differ in the kind of the whole value: a string or a list. */
function eitherForm(branches: readonly (readonly z.core.$ZodIssue[])[]): string | undefined {
  const forms = branches.map(([first]) =>
    first?.path.length === 0 ? /^must be (.+)$/.exec(first.message)?.[1] : undefined,
  )
  if (forms.length === 0 || forms.some((form) => form === undefined)) return undefined
  return must([...new Set(forms)].join(' or '))
}

/** With a discriminator, the path of the issue ends with the discriminating field. */
function unionProblem({
  input,
  discriminator,
  options,
  errors,
}: ZodIssue & { code: 'invalid_union' }): string {
  if (!discriminator || !Array.isArray(options)) return eitherForm(errors) ?? otherForm
  const isGiven = typeof input === 'object' && input !== null && discriminator in input
  return `${isGiven ? 'must be' : 'is required:'} ${listed(options)}`
}

function formatProblem({ format, pattern }: ZodIssue & { code: 'invalid_format' }): string {
  const form = formats[format]
  if (form) return must(form)
  return pattern ? `must match ${pattern}` : otherForm
}

const longestEcho = 100

/** Input that a message repeats: at most 100 characters of it. */
export const shortenEcho = (text: string): string =>
  text.length > longestEcho ? `${text.slice(0, longestEcho).toWellFormed()}…` : text

/** Input that a message repeats in the form of JSON. */
export const quoteValue = (value: unknown): string =>
  typeof value === 'string'
    ? JSON.stringify(shortenEcho(value))
    : shortenEcho(JSON.stringify(value) ?? 'null')

/** The error of a union, for a `type` that was sent and is not known. Other issues keep their usual text. */
export const ofUnknownType = (describe: (type: unknown) => string) => ({
  error: ({ input }: { input?: unknown }): string | undefined =>
    typeof input === 'object' && input !== null && 'type' in input
      ? describe(input.type)
      : undefined,
})

/** Describes an issue whose schema has no message. The text never contains the value, which may be a secret. */
export function describeProblem(issue: ZodIssue): string {
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
    case 'invalid_format':
      return formatProblem(issue)
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

/**
 * Each wrong field with its problem, once: `limit: must be at most 1000`. The error comes from a parse with
 * `describeProblem`.
 */
export const problemsOf = ({ issues }: z.ZodError): string[] => [...new Set(explain(issues))]

function explain(issues: readonly z.core.$ZodIssue[], under: PropertyKey[] = []): string[] {
  return issues.slice(0, 10).flatMap((issue) => {
    const path = [...under, ...issue.path]
    if (issue.code === 'unrecognized_keys')
      return issue.keys.slice(0, 10).map((key) => `${pathText([...path, key])}: unknown field`)
    if (issue.code === 'invalid_union' && issue.errors.length > 0) {
      const fitting = issue.errors.filter((branch) => !isOtherKind(branch))
      if (fitting.length === 1 && issue.errors.length > 1) return explain(fitting.flat(), path)
      if (!eitherForm(issue.errors)) return explain(closest(issue.errors), path)
    }
    const at = pathText(path)
    if (at !== '') return [`${at}: ${issue.message}`]
    return [issue.code === 'custom' ? issue.message : `the input ${issue.message}`]
  })
}

const pathText = (path: readonly PropertyKey[]): string =>
  path.map((part) => shownKey(String(part))).join('.')

/** Hides a key that looks more like a misplaced secret than like a name. */
const shownKey = (key: string): string =>
  /^([a-z_-]{1,64}|[\w-]{1,24}(\[\w+\])?)$/i.test(key) ? key : '(a name that is not repeated here)'

/** True where the branch of a union takes a value of another kind altogether, such as an object in place of a string. */
const isOtherKind = ([first]: readonly z.core.$ZodIssue[]): boolean =>
  first?.code === 'invalid_type' && first.path.length === 0

/** The branch of a union that matched furthest: its issues lie deepest and are fewest. */
function closest(branches: readonly z.core.$ZodIssue[][]): readonly z.core.$ZodIssue[] {
  const depth = (issues: readonly z.core.$ZodIssue[]) =>
    Math.max(
      ...issues.map((issue) => issue.path.length + (issue.code === 'unrecognized_keys' ? 1 : 0)),
    )
  return branches.toSorted((a, b) => depth(b) - depth(a) || a.length - b.length)[0] ?? []
}

export type ParseResult<T> = { ok: true; value: T } | { ok: false; problems: string }

/** The parsed value, or all problems in one line. */
export function parsedBy<S extends z.ZodType>(schema: S, value: unknown): ParseResult<z.output<S>> {
  const parsed = schema.safeParse(value, { error: describeProblem })
  return parsed.success
    ? { ok: true, value: parsed.data }
    : { ok: false, problems: problemsOf(parsed.error).join('; ') }
}

/** The parsed value. Throws an error that begins with `name` and lists the problems. */
export function parseNamed<S extends z.ZodType>(
  name: string,
  schema: S,
  value: unknown,
): z.output<S> {
  const parsed = parsedBy(schema, value)
  if (!parsed.ok) throw new Error(`${name}: ${parsed.problems}`)
  return parsed.value
}
