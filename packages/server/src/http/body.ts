import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import type { z } from 'zod'
import { invalid, PlatformError } from '../core/errors.ts'

/** Bytes of a JSON body. behaviours.md 1.8 */
export const largestBody = 32 * 1024 * 1024
/** For all of it, from when it is asked for. */
const slowestMs = 300_000

const tooLarge = () =>
  new PlatformError('too_large', `the body is larger than ${largestBody} bytes`)

const because = (error: PlatformError, cause: unknown) => Object.assign(error, { cause })

/**
 * The whole body. At the limit it stops listening and leaves the request as it is, so that the refusal can still be
 * written; the answer closes the connection.
 */
export async function readBody(incoming: IncomingMessage): Promise<string> {
  if (Number(incoming.headers['content-length'] ?? 0) > largestBody) throw tooLarge()
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    const late = setTimeout(() => incoming.destroy(new Error('it took too long')), slowestMs)
    const broken = (cause?: unknown) => {
      clearTimeout(late)
      if (!incoming.complete) reject(because(invalid('the body broke off'), cause))
    }
    const take = (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes <= largestBody) return void chunks.push(chunk)
      clearTimeout(late)
      incoming.off('data', take).pause()
      reject(tooLarge())
    }
    incoming
      .on('data', take)
      .once('end', () => {
        clearTimeout(late)
        const body = Buffer.concat(chunks)
        if (isUtf8(body)) resolve(body.toString('utf8'))
        else reject(invalid('the body is not UTF-8'))
      })
      .once('error', broken)
      .once('close', broken)
  })
}

/** The whole body of a request that a route reads itself; at the limit it stops listening, as `readBody` does. */
export async function readText(body: Readable | null): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of body ?? []) {
      bytes += (chunk as Buffer).length
      if (bytes > largestBody) throw tooLarge()
      chunks.push(chunk as Buffer)
    }
  } catch (cause) {
    throw cause instanceof PlatformError ? cause : because(invalid('the body broke off'), cause)
  }
  const whole = Buffer.concat(chunks)
  if (!isUtf8(whole)) throw invalid('the body is not UTF-8')
  return whole.toString('utf8')
}

/** Objects and lists within one another: deeper, what walks a value would run out of stack. */
const deepest = 256

/** An absent body is an empty object, so that what is missing is named field by field. */
export function parseJson(text: string): unknown {
  if (text.trim() === '') return {}
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw because(invalid(`the body is not JSON: ${jsonProblem(cause as Error)}`), cause)
  }
  if (isDeep(value)) throw invalid(`the body is nested more than ${deepest} levels deep`)
  return value
}

/** Without the piece of the text that the platform quotes: there may be a secret in it. */
const jsonProblem = ({ message }: Error): string =>
  message.replace(/,? ?(\.\.\.)?".*$/s, '').trim() || 'it is no value'

const isNested = (value: unknown): value is object => typeof value === 'object' && value !== null

/** Level by level, without recursion. */
function isDeep(value: unknown): boolean {
  let level = [value].filter(isNested)
  for (let depth = 0; depth < deepest; depth++) {
    const next: object[] = []
    for (const each of level)
      for (const inner of Object.values(each)) if (isNested(inner)) next.push(inner)
    if (next.length === 0) return false
    level = next
  }
  return true
}

/** The input by its schema, or an error that names every field that is wrong. */
export function parseBy<S extends z.ZodType>(schema: S, input: unknown): z.output<S> {
  const parsed = schema.safeParse(input)
  if (parsed.success) return parsed.data
  const { issues } = parsed.error
  const isMetadata = issues.every(({ path }) => path[0] === 'metadata')
  throw invalid(explain(issues).join('; '), isMetadata ? 'invalid_metadata' : undefined)
}

function explain(issues: readonly z.core.$ZodIssue[], under: PropertyKey[] = []): string[] {
  return issues.slice(0, 10).flatMap((issue) => {
    const path = [...under, ...issue.path]
    const where = path.map(String).join('.')
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => `${[...path, shownKey(key)].join('.')}: unknown field`)
    }
    if (issue.code === 'invalid_union' && issue.errors.length > 0)
      return explain(closest(issue.errors), path)
    return [where ? `${where}: ${issue.message}` : issue.message]
  })
}

/** Not what looks more like a secret in the wrong place than like a name. */
const shownKey = (key: string): string =>
  /^([a-z_-]{1,64}|[\w-]{1,24})$/i.test(key) ? key : '(a name that is not repeated here)'

/** Of a union's branches, the one that came furthest: its complaints lie deepest and are fewest. */
function closest(branches: readonly z.core.$ZodIssue[][]): readonly z.core.$ZodIssue[] {
  const depth = (issues: readonly z.core.$ZodIssue[]) =>
    Math.max(
      ...issues.map((issue) => issue.path.length + (issue.code === 'unrecognized_keys' ? 1 : 0)),
    )
  return branches.toSorted((a, b) => depth(b) - depth(a) || a.length - b.length)[0] ?? []
}
