/** Bytes by key, complete or absent. Rows hold their meaning and who may read them. */
import type { Readable } from 'node:stream'

/** Bytes from `start` up to `end`, exclusive. Without `end`: to the end of the blob. */
export type ByteRange = { start: number; end?: number }

export interface Blobs {
  /**
   * Reads the body to its end, with back-pressure. A piece is not used after the next one is requested. The blob is
   * durable when the promise resolves; until then `get` finds the blob from before. A body that fails leaves nothing.
   */
  put(key: string, body: AsyncIterable<Uint8Array>): Promise<{ size: number; sha256: string }>
  /** `size`: of the whole blob. Read the body to its end or destroy it. Its pieces belong to the reader. */
  get(key: string, range?: ByteRange): Promise<{ size: number; body: Readable } | undefined>
  head(key: string): Promise<{ size: number } | undefined>
  /** Deletes the blob, if there is one. */
  delete(key: string): Promise<void>
  /** Deletes at least a thousand blobs below a prefix that ends with `/`. Returns true when none is left. */
  deleteBelow(prefix: string): Promise<boolean>
  /** Lists the blobs below a prefix that ends with `/`, in no order. */
  list(prefix: string): AsyncIterable<{ key: string; size: number; modifiedMs: number }>
}

/** Segments of letters, digits, `_`, `-` and `.`, none with a dot first: every store takes such names as they are. */
const key = /^[\w-][\w.-]*(\/[\w-][\w.-]*)*$/

export const isKey = (text: string): boolean => key.test(text) && text.length <= 512

/** Throws for a text that is no key. Names that people give never become keys. */
export function checkKey(text: string): string {
  if (!isKey(text)) throw new Error(`${JSON.stringify(text)} is no blob key`)
  return text
}

export function checkPrefix(text: string): string {
  if (!text.endsWith('/')) throw new Error(`${JSON.stringify(text)} is no prefix of blob keys`)
  return `${checkKey(text.slice(0, -1))}/`
}

/** The range within a blob of this size. An empty range has `start` >= `end`. */
export const clampRange = (size: number, range?: ByteRange): { start: number; end: number } => ({
  start: range?.start ?? 0,
  end: Math.min(range?.end ?? size, size),
})
