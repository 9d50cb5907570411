/** Reads text files: detects text, and returns single lines of files of any size. */
import type { FileFailure, FileSuccess, Sandbox } from '@steward/sandbox/sandbox.ts'

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const pieceBytes = 1024 * 1024
const newline = 0x0a

/** Undefined for bytes that are not UTF-8 or contain NUL. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined
  try {
    return decoder.decode(bytes)
  } catch {
    // Not UTF-8. The caller reports that with the file's path.
    return undefined
  }
}

export type LineRange = FileSuccess<{
  bytes: Uint8Array
  /** True when the range is larger than `maxBytes`. */
  isCut: boolean
  /** Number of lines in the file; only set when the end of the file was reached. */
  count?: number
}>

/** Reads lines `first` to `last`, both included, counted from 1; to the end when `last` is 0 or less. */
export async function readLines(
  sandbox: Sandbox,
  path: string,
  { first, last, maxBytes }: { first: number; last: number; maxBytes: number },
  signal: AbortSignal,
): Promise<LineRange | FileFailure | 'interrupted'> {
  const parts: Uint8Array[] = []
  let [offset, line, held] = [0, 1, 0]
  let endsInLine = false
  for (;;) {
    if (signal.aborted) return 'interrupted'
    const piece = await sandbox.read(path, { offset, maxBytes: pieceBytes })
    if (!piece.ok) return piece
    const { bytes } = piece
    if (bytes.length === 0) {
      const count = endsInLine ? line : line - 1
      return { ok: true, bytes: Buffer.concat(parts), isCut: false, count }
    }
    for (let at = 0; at < bytes.length;) {
      if (last > 0 && line > last) return { ok: true, bytes: Buffer.concat(parts), isCut: false }
      const end = endOfLine(bytes, at)
      if (line >= first) {
        parts.push(bytes.subarray(at, Math.min(end, at + maxBytes - held)))
        held += end - at
        if (held > maxBytes) return { ok: true, bytes: wholeLetters(parts), isCut: true }
      }
      endsInLine = bytes[end - 1] !== newline
      if (!endsInLine) line++
      at = end
    }
    offset += bytes.length
  }
}

function endOfLine(bytes: Uint8Array, from: number): number {
  const at = bytes.indexOf(newline, from)
  return at === -1 ? bytes.length : at + 1
}

/** Drops the beginning of a character that was cut. */
function wholeLetters(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = Buffer.concat(parts)
  let end = bytes.length
  while (end > 0 && bytes.length - end < 3 && ((bytes[end - 1] ?? 0) & 0xc0) === 0x80) end--
  return bytes.subarray(0, ((bytes[end - 1] ?? 0) & 0x80) === 0 ? bytes.length : end - 1)
}
