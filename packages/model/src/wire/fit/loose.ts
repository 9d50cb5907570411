/** Reads values of other types than the published ones. */
import type { JsonObject } from '../documents.ts'

export const isRecord = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const toRecord = (value: unknown): JsonObject => (isRecord(value) ? value : {})

/** The objects of a list; a single object counts as a list of one. */
export function toRecords(value: unknown): JsonObject[] {
  if (Array.isArray(value)) return value.filter(isRecord)
  return isRecord(value) ? [value] : []
}

/** A text, or a number or truth value as a text; empty for anything else. */
export function toText(value: unknown): string {
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : ''
}

/** A text as it is, and any other value as JSON: for inputs of calls, which are JSON in a text. */
export function toJsonText(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** A whole number that is not negative, also when it is written as a text. */
export function toCount(value: unknown): number | undefined {
  const count = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof count === 'number' && Number.isSafeInteger(count) && count >= 0 ? count : undefined
}

/** Counts of tokens, at any depth. What is no count is left out. */
export function toUsage(value: unknown): JsonObject | undefined {
  if (!isRecord(value)) return undefined
  const usage: JsonObject = {}
  for (const [name, each] of Object.entries(value)) {
    const count = isRecord(each) ? toUsage(each) : toCount(each)
    if (count !== undefined) usage[name] = count
  }
  return usage
}

/** The meaning of a stop reason, in whatever dialect and case. Undefined when nothing was said. */
export type StopWord = 'stop' | 'tool' | 'length' | 'filter' | 'failure'

/** A word that is not known is a stop: the stream ended well. */
export function toStopWord(value: unknown): StopWord | undefined {
  const word = toText(value).trim()
  if (word === '') return undefined
  return stopWords.find(([, pattern]) => pattern.test(word))?.[0] ?? 'stop'
}

const stopWords: [StopWord, RegExp][] = [
  ['tool', /^(tool|function)[\s_-]?(use|calls?)$/i],
  ['length', /^(length|(max|model)[\s_-]?(\w+[\s_-])?(tokens?|length|exceeded))$|context_window/i],
  ['filter', /filter|safety|refus|sensitive/i],
  ['failure', /error|fail|abort|cancel|time_?out|malformed/i],
]
