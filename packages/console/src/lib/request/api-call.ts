/** A request that a form will send, and how programs write it: with the official client, or as curl. */
type SentJson =
  | string
  | number
  | boolean
  | null
  | SentJson[]
  | { [key: string]: SentJson | undefined }
export type JsonBody = { [key: string]: SentJson | undefined }

/** What of a value goes over the wire. */
export const jsonOf = (value: object): JsonBody => JSON.parse(JSON.stringify(value))

export type ApiCall = {
  method: 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** With the ids in their places. */
  path: string
  /** The method of the official client, such as `beta.agents.create`; without it, only curl is shown. */
  client?: string
  /** What stands before the body in the client's method: ids. */
  args?: readonly string[]
  /** What the client's method takes beside the body: ids of the path by their names. */
  beside?: JsonBody
  body: JsonBody
  /** Fields of a form in place of a body of JSON; curl alone shows it. */
  form?: readonly (readonly [name: string, value: string])[]
}

export const callForms = ['typescript', 'python', 'curl'] as const
export type CallForm = (typeof callForms)[number]

const plainKey = /^[A-Za-z_$][\w$]*$/
const width = 76

type Marks = {
  /** The text of a string. */
  text: (value: string) => string
  word: (value: boolean | null) => string
  pair: (key: string, value: string) => string
}

const isSet = (pair: [string, SentJson | undefined]): pair is [string, SentJson] =>
  pair[1] !== undefined

/** SECRET: what is typed into these fields stands in no shown request. */
const secretFields = new Set(['authorization_token'])

const shownOf = (key: string, value: SentJson): SentJson =>
  secretFields.has(key) && typeof value === 'string' ? '…' : value

/** On one line where that fits, else a line for each part. */
function written(value: SentJson, marks: Marks, indent: string, open: string): string {
  if (typeof value === 'string') return marks.text(value)
  if (typeof value === 'number') return String(value)
  if (typeof value === 'boolean' || value === null) return marks.word(value)
  const [begin, end] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  const inner = `${indent}${open}`
  const parts = Array.isArray(value)
    ? value.map((each) => written(each, marks, inner, open))
    : Object.entries(value)
        .filter(isSet)
        .map(([key, each]) => marks.pair(key, written(shownOf(key, each), marks, inner, open)))
  if (parts.length === 0) return begin + end
  const pad = begin === '{' ? ' ' : ''
  const line = `${begin}${pad}${parts.join(', ')}${pad}${end}`
  if (indent.length + line.length <= width && !line.includes('\n')) return line
  return `${begin}\n${parts.map((part) => `${inner}${part},\n`).join('')}${indent}${end}`
}

const quoted = (value: string): string =>
  `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`

const script: Marks = {
  text: quoted,
  word: String,
  pair: (key, value) => `${plainKey.test(key) ? key : quoted(key)}: ${value}`,
}
const python: Marks = {
  text: (value) => JSON.stringify(value),
  word: (value) => (value === null ? 'None' : value ? 'True' : 'False'),
  pair: (key, value) => `${JSON.stringify(key)}: ${value}`,
}

const typescriptOf = ({ client, args = [], beside, body: sent }: ApiCall): string => {
  const body = { ...beside, ...sent }
  const parts = [...args.map(quoted), ...(isEmpty(body) ? [] : [written(body, script, '', '  ')])]
  return `await client.${client}(${parts.join(', ')})`
}

const pythonOf = ({ client, args = [], beside, body }: ApiCall): string => {
  const name = (client ?? '').replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  const parts = [
    ...args.map((each) => JSON.stringify(each)),
    ...Object.entries({ ...beside, ...body })
      .filter(isSet)
      .map(([key, value]) => `${key}=${written(value, python, '    ', '    ')}`),
  ]
  return parts.length === 0
    ? `client.${name}()`
    : `client.${name}(\n    ${parts.join(',\n    ')},\n)`
}

/** For a shell: a single quote ends the text, stands by itself, and begins it again. */
const shellText = (value: string): string => `'${value.replaceAll("'", `'\\''`)}'`

const curlOf = ({ method, path, body, form = [] }: ApiCall, base: string): string => {
  const lines = [`curl -X ${method} ${shellText(base + path)}`, `-H "x-api-key: $STEWARD_API_KEY"`]
  if (!isEmpty(body))
    lines.push(
      `-H 'content-type: application/json'`,
      `-d ${shellText(JSON.stringify(body, (key, value: SentJson) => shownOf(key, value), 2))}`,
    )
  for (const [name, value] of form) lines.push(`-F ${shellText(`${name}=${value}`)}`)
  return lines.join(' \\\n  ')
}

const isEmpty = (body: JsonBody): boolean => Object.values(body).every((each) => each === undefined)

/** `base`: the address of the service. */
export function callText(call: ApiCall, form: CallForm, base: string): string {
  if (form === 'curl') return curlOf(call, base)
  return form === 'typescript' ? typescriptOf(call) : pythonOf(call)
}
