/** How a text is searched for: by the database, which may find too much, and exactly in the texts that it has found. */
import type { Excerpt } from '@steward/protocol/found-events.ts'
import { likeInJson } from '../../../ground/database/like.ts'
import { pointerName } from '../../../ground/core/text/json-pointer.ts'

/** `like`: a pattern for the JSON of an event in small ASCII letters, with `!` as its escape. */
export type TextSearch = { like: string; exact: RegExp }

/** Characters of an excerpt beside what was found, and of that itself. */
const besideLength = 100
const longestMatch = 300

export function textSearch(text: string): TextSearch {
  const words = text.split(/\s+/).filter((word) => word !== '')
  // White space alone is meant as it is written.
  const parts = words.length === 0 ? [text] : words
  return {
    like: `%${parts.map(likeInJson).join('%')}%`,
    exact: new RegExp(parts.map(literally).join(String.raw`\s+`), 'iu'),
  }
}

const literally = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)

/** Names of fields whose texts are words and ids of the service. */
const isName = (field: string): boolean =>
  field === 'type' || field === 'media_type' || field.endsWith('_id') || field.endsWith('_ids')

/** Texts in the fields of an event, each with where it stands as a JSON pointer. Base64 is no text. */
function* textsIn(value: unknown, at = '', depth = 0): Generator<{ at: string; text: string }> {
  if (typeof value === 'string') yield { at, text: value }
  if (typeof value !== 'object' || value === null || depth > deepest) return
  const isBase64 = 'type' in value && value.type === 'base64'
  for (const [name, each] of Object.entries(value)) {
    if (!Array.isArray(value) && (isName(name) || (isBase64 && name === 'data'))) continue
    yield* textsIn(each, `${at}/${pointerName(name)}`, depth + 1)
  }
}

const deepest = 64

/** The first place where the text is found. */
export function findText(fields: unknown, { exact }: TextSearch): Excerpt | undefined {
  for (const { at, text } of textsIn(fields)) {
    const found = exact.exec(text)
    if (found) return excerptOf(at, text, found.index, found[0].length)
  }
  return undefined
}

/** The end of the first text of a failed result, which says most; of anything else its beginning. */
export function firstText(fields: unknown, isEnd: boolean): Excerpt | undefined {
  for (const { at, text } of textsIn(fields))
    if (text !== '') return excerptOf(at, text, isEnd ? text.length : 0, 0)
  return undefined
}

/** `toWellFormed`: a pair of surrogates may be cut in two. */
const excerptOf = (at: string, text: string, index: number, length: number): Excerpt => ({
  at,
  index,
  before: text.slice(Math.max(0, index - besideLength), index).toWellFormed(),
  text: text.slice(index, index + Math.min(length, longestMatch)).toWellFormed(),
  after: text.slice(index + length, index + length + besideLength).toWellFormed(),
})
