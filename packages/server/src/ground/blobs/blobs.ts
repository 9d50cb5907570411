/** Bytes by key, whole or not there. What they mean, and who may have them, stands in rows. */
import type { Readable } from 'node:stream'

/** Bytes from `start` up to and without `end`; to the end when that is left out. */
export type ByteRange = { start: number; end?: number }

export interface Blobs {
  /**
   * Reads the body to its end, with back-pressure; a piece is not looked at once the next is asked for. Durable when
   * it resolves; until then `get` finds what was there before, and a body that fails leaves nothing.
   */
  put(key: string, body: AsyncIterable<Uint8Array>): Promise<{ size: number; sha256: string }>
  /** `size` is the whole blob's. The body must be read to its end or destroyed; its pieces are the reader's alone. */
  get(key: string, range?: ByteRange): Promise<{ size: number; body: Readable } | undefined>
  head(key: string): Promise<{ size: number } | undefined>
  /** Idempotent. */
  delete(key: string): Promise<void>
  /** Deletes blobs below a prefix that ends with `/`, a thousand at least. True: nothing is left. */
  deleteBelow(prefix: string): Promise<boolean>
  /** Below a prefix that ends with `/`, in no order. */
  list(prefix: string): AsyncIterable<{ key: string; size: number; modifiedMs: number }>
}

/** Segments of letters, digits, `_`, `-`, `.` and none that begins with a dot: names that every store takes as they are. */
const key = /^[\w-][\w.-]*(\/[\w-][\w.-]*)*$/

export const isKey = (text: string): boolean => key.test(text) && text.length <= 512

/** Throws on what is no key: names that people give never become one. */
export function checkKey(text: string): string {
  if (!isKey(text)) throw new Error(`${JSON.stringify(text)} is no blob key`)
  return text
}

export function checkPrefix(text: string): string {
  if (!text.endsWith('/')) throw new Error(`${JSON.stringify(text)} is no prefix of blob keys`)
  return `${checkKey(text.slice(0, -1))}/`
}

/** What a range means for a blob of this size; `start` is at or past `end` when it holds nothing. */
export const clampRange = (size: number, range?: ByteRange): { start: number; end: number } => ({
  start: range?.start ?? 0,
  end: Math.min(range?.end ?? size, size),
})
