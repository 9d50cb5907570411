/** What a refusal says of single fields, so that it can stand under them. */
import { ApiError } from './refusal.ts'

export type Problems = {
  /** By the path of the field in the body. */
  fields: Record<string, string>
  /** What belongs to none of the fields. */
  rest: string | undefined
}

const noProblems: Problems = { fields: {}, rest: undefined }

/** True for a field and for what lies in it. */
const isWithin = (path: string, field: string): boolean =>
  path === field || path.startsWith(`${field}.`) || path.startsWith(`${field}[`)

/**
 * `fields`: the paths that the form shows, such as `name` and `auth.token`; of two, the longer one has what belongs to
 * both. The service says `name: must not be empty; tools[0].type: …`.
 */
export function problemsOf(error: unknown, fields: readonly string[]): Problems {
  if (!(error instanceof Error)) return noProblems
  if (!(error instanceof ApiError) || error.status >= 500)
    return { fields: {}, rest: error.message }
  const placed: Record<string, string> = {}
  const others: string[] = []
  for (const sentence of error.message.split('; ')) {
    const [, path = '', message = ''] = /^([\w.[\]-]+):? (.+)$/s.exec(sentence) ?? []
    const [name] = fields
      .filter((field) => isWithin(path, field))
      .toSorted((one, other) => other.length - one.length)
    if (name === undefined) others.push(sentence)
    else {
      const said = path === name ? message : sentence
      placed[name] = placed[name] === undefined ? said : `${placed[name]}; ${said}`
    }
  }
  return { fields: placed, rest: others.length > 0 ? others.join('; ') : undefined }
}
