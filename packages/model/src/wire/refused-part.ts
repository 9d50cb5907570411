/**
 * One part of a conversation that a provider refuses, such as an image that it cannot read. It stands in every later
 * request, so a request without it is tried before the turn is given up.
 */
import type { ModelFailure } from '../model.ts'
import type { JsonObject } from './documents.ts'
import { isRecord } from './fit/loose.ts'

type PartKind = 'image' | 'document' | 'text'
/** `path`: the place in the request's body that the provider named. Without it, all parts of the kind are meant. */
export type RefusedPart = { path: (string | number)[] } | { kind: PartKind }

const refusedStatuses = new Set([400, 415, 422])
const path = /\b(?:messages|input|contents)(?:\.\w+|\[\d+\])+/
const words: [PartKind, RegExp][] = [
  ['image', /\bimages?\b|image_url|\bpictures?\b/i],
  ['document', /\bdocuments?\b|\bpdf\b|\bfile_data\b/i],
]

/** What the provider named; undefined for other failures. */
export function findRefusedPart({ status, message }: ModelFailure): RefusedPart | undefined {
  if (status === undefined || !refusedStatuses.has(status)) return undefined
  const named = path.exec(message)?.[0]
  if (named !== undefined) {
    const steps = named.match(/\w+/g) ?? []
    return { path: steps.map((step) => (/^\d+$/.test(step) ? Number(step) : step)) }
  }
  const kind = words.find(([, pattern]) => pattern.test(message))?.[0]
  return kind && { kind }
}

/** Puts a word in the place of the part in a finished body. Returns how many parts were replaced. */
export function replaceRefused(body: JsonObject, refused: RefusedPart): number {
  if ('path' in refused) {
    const part = partAt(body, refused.path)
    return part === undefined ? 0 : replace(part)
  }
  let count = 0
  for (const root of ['messages', 'input', 'contents']) {
    visit(body[root], (part) => {
      if (kindOf(part) === refused.kind) count += replace(part)
    })
  }
  return count
}

/** The deepest part on the path. Names of types in it, as in `content.0.image.source`, are no members. */
function partAt(body: JsonObject, steps: readonly (string | number)[]): JsonObject | undefined {
  let at: unknown = body
  let found: JsonObject | undefined
  for (const step of steps) {
    if (Array.isArray(at)) at = (at as unknown[])[Number(step)]
    else if (isRecord(at) && String(step) in at) at = at[String(step)]
    else continue
    if (isRecord(at) && kindOf(at) !== undefined) found = at
  }
  return found
}

function visit(value: unknown, onRecord: (record: JsonObject) => void): void {
  if (Array.isArray(value)) for (const each of value) visit(each, onRecord)
  if (!isRecord(value)) return
  onRecord(value)
  for (const each of Object.values(value)) if (typeof each === 'object') visit(each, onRecord)
}

function kindOf(part: JsonObject): PartKind | undefined {
  const { type, inlineData } = part
  if (isRecord(inlineData))
    return String(inlineData.mimeType).startsWith('image') ? 'image' : 'document'
  switch (type) {
    case 'image':
    case 'image_url':
    case 'input_image':
      return 'image'
    case 'document':
    case 'file':
    case 'input_file':
      return 'document'
    case 'text':
    case 'input_text':
      return 'text'
    default:
      return undefined
  }
}

const articles: Record<PartKind, string> = {
  image: 'an image',
  document: 'a document',
  text: 'a text',
}

/** Changes the part itself. A cache breakpoint stays on it. */
function replace(part: JsonObject): number {
  const kind = kindOf(part)
  if (kind === undefined) return 0
  const { type, cache_control } = part
  for (const name of Object.keys(part)) delete part[name]
  if (typeof type === 'string') part.type = type.startsWith('input_') ? 'input_text' : 'text'
  part.text = `[${articles[kind]} that the provider refused]`
  if (cache_control !== undefined) part.cache_control = cache_control
  return 1
}
