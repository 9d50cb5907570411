/** Files that settings name: small texts, of which no more is read than they may hold. */
import { open } from 'node:fs/promises'

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'it is not there',
  ENOTDIR: 'it is not there',
  EACCES: 'this user may not read it',
  EISDIR: 'it is a folder',
}

/** A named pipe to which nobody writes would hold the start for ever. */
const longestMs = 10_000

async function readBytes(path: string, most: number): Promise<Buffer> {
  const file = await open(path)
  try {
    const bytes = Buffer.alloc(most + 1)
    let length = 0
    // A pipe gives its bytes in pieces.
    while (length <= most) {
      const { bytesRead } = await file.read(bytes, length, bytes.length - length, null)
      if (bytesRead === 0) return bytes.subarray(0, length)
      length += bytesRead
    }
    throw new Error(`it is larger than ${most} bytes`)
  } finally {
    await file.close()
  }
}

function inTime<T>(reading: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new Error(`nothing came from it within ${longestMs / 1000} seconds`))
    const timer = setTimeout(late, longestMs)
    reading.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

/** Returns the text, or the reason why there is none, which completes "cannot be read: ". */
export async function readBoundedText(
  path: string,
  most: number,
): Promise<{ text: string } | { why: string }> {
  try {
    const bytes = await inTime(readBytes(path, most))
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) }
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException
    if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return { why: 'it is no text in UTF-8' }
    return { why: reasons[code] ?? (code || message) }
  }
}
