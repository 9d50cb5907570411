/**
 * Reads the archives of checkpoints entry by entry, and extracts nothing: tar as GNU writes it, with long names, sparse
 * files, and the names of each folder, by which an archive of changes tells what was deleted.
 */
import { createZstdDecompress } from 'node:zlib'
import { Readable } from 'node:stream'

/** `path` and `target`: bytes as Latin-1 text, one character a byte. `names`: of a folder, what it holds. */
export type ArchiveEntry = {
  path: string
  kind: 'file' | 'folder' | 'link' | 'other'
  /** Bytes of a file, with its holes. */
  size: number
  modifiedMs: number
  target: string | null
  /** The path of the file in this archive whose bytes this one shares. */
  sharedWith: string | null
  names: string[] | null
}

/** `start`: where the piece stands in the file. A gap before it is a hole of zeros. Read a piece before the next. */
export type EntryPiece = { start: number; bytes: Uint8Array }
export type ReadEntry = { entry: ArchiveEntry; pieces: () => AsyncGenerator<EntryPiece> }

/** The archive is not what tar has written. */
export class ArchiveError extends Error {
  override readonly name = 'ArchiveError'
}

const block = 512
const chunkSize = 256 * 1024
/** Bytes of all long names, and of the names in all folders. */
const mostMeta = 32 * 1024 * 1024
const mostSegments = 1_000_000

type Segment = { start: number; length: number }

/** Reads so many bytes at a time from pieces of any length. */
function cursorOver(body: AsyncIterable<Uint8Array>) {
  const pieces = body[Symbol.asyncIterator]()
  let held: Uint8Array = new Uint8Array(0)

  /** Between 1 and `most` bytes; empty at the end. */
  async function some(most: number): Promise<Uint8Array> {
    while (held.length === 0) {
      const { done, value } = await pieces.next()
      if (done) return held
      held = value
    }
    const given = held.subarray(0, most)
    held = held.subarray(given.length)
    return given
  }

  async function exactly(length: number): Promise<Buffer> {
    const whole = Buffer.allocUnsafe(length)
    for (let at = 0; at < length;) {
      const given = await some(length - at)
      if (given.length === 0) throw new ArchiveError('it ends too early')
      whole.set(given, at)
      at += given.length
    }
    return whole
  }

  async function skip(length: number): Promise<void> {
    for (let left = length; left > 0;) {
      const given = await some(left)
      if (given.length === 0) throw new ArchiveError('it ends too early')
      left -= given.length
    }
  }

  return { some, exactly, skip }
}

type ArchiveCursor = ReturnType<typeof cursorOver>

const textAt = (header: Buffer, from: number, length: number): string => {
  const field = header.subarray(from, from + length)
  const end = field.indexOf(0)
  return field.toString('latin1', 0, end === -1 ? length : end)
}

/** Octal digits, or with the highest bit set a binary number. */
function numberAt(header: Buffer, from: number, length: number): number {
  const first = header[from] ?? 0
  if (first < 0x80) {
    const digits = textAt(header, from, length).trim()
    if (!/^[0-7]*$/.test(digits)) throw new ArchiveError('a number in it is none')
    return digits === '' ? 0 : Number.parseInt(digits, 8)
  }
  let value = first === 0xff ? -1n : BigInt(first & 0x7f)
  for (let at = from + 1; at < from + length; at++) value = (value << 8n) | BigInt(header[at] ?? 0)
  return Number(value)
}

function checkSum(header: Buffer): void {
  let sum = 8 * 0x20
  for (let at = 0; at < block; at++) if (at < 148 || at >= 156) sum += header[at] ?? 0
  if (sum !== numberAt(header, 148, 8)) throw new ArchiveError('a header in it is broken')
}

const sizeAt = (header: Buffer, from: number): number => {
  const size = numberAt(header, from, 12)
  if (!Number.isSafeInteger(size) || size < 0) throw new ArchiveError('a size in it is none')
  return size
}

const padding = (size: number): number => (block - (size % block)) % block

/** The header of an entry, with the long names that stand before it. */
type EntryHeader = { block: Buffer; type: string; stored: number; path: string; target: string }

/** Undefined at the empty block with which an archive ends. */
async function nextHeader(
  cursor: ArchiveCursor,
  meta: MetaReader,
): Promise<EntryHeader | undefined> {
  const long: Record<string, string> = {}
  for (;;) {
    const header = await cursor.exactly(block)
    if (header.every((byte) => byte === 0)) return undefined
    checkSum(header)
    const type = textAt(header, 156, 1) || '0'
    const stored = sizeAt(header, 124)
    if (type !== 'L' && type !== 'K')
      return {
        block: header,
        type,
        stored,
        path: (long['L'] ?? textAt(header, 0, 100)).replace(/\/+$/, ''),
        target: long['K'] ?? textAt(header, 157, 100),
      }
    long[type] = (await meta(stored)).toString('latin1').replace(/\0.*$/s, '')
  }
}

function entryOf({ block, type, stored, path, target }: EntryHeader): Omit<ArchiveEntry, 'names'> {
  const size = type === 'S' ? sizeAt(block, 483) : stored
  const kind = kinds[type] ?? 'other'
  return {
    path,
    kind,
    size: kind === 'file' && type !== '1' ? size : 0,
    modifiedMs: numberAt(block, 136, 12) * 1_000,
    target: type === '2' ? target : null,
    sharedWith: type === '1' ? target : null,
  }
}

/** The entries of a decompressed archive, in its order. What of an entry is not read is skipped. */
async function* entriesIn(cursor: ArchiveCursor): AsyncGenerator<ReadEntry> {
  const meta = metaReader(cursor)
  for (;;) {
    const header = await nextHeader(cursor, meta)
    if (!header) break
    const { type, stored } = header
    const segments =
      type === 'S' ? await segmentsOf(cursor, header.block) : [{ start: 0, length: stored }]
    const names = type === 'D' ? namesOf(await meta(stored)) : null
    let left = names ? 0 : stored
    async function* pieces(): AsyncGenerator<EntryPiece> {
      for (const { start, length } of segments)
        for (let at = 0; at < length && left > 0;) {
          const bytes = await cursor.some(Math.min(length - at, left))
          if (bytes.length === 0) throw new ArchiveError('it ends too early')
          left -= bytes.length
          yield { start: start + at, bytes }
          at += bytes.length
        }
    }
    yield { entry: { ...entryOf(header), names }, pieces }
    if (!names) await cursor.skip(left + padding(stored))
  }
  // Behind the empty block, zeros fill the last record. They are read, so that the whole archive has been.
  while ((await cursor.some(chunkSize)).length > 0);
}

const kinds: Record<string, ArchiveEntry['kind']> = {
  '0': 'file',
  '1': 'file',
  '2': 'link',
  '5': 'folder',
  '7': 'file',
  D: 'folder',
  S: 'file',
}

type MetaReader = (size: number) => Promise<Buffer>

/** Attack: a small archive of a worker may expand to names without end, which would all be held. */
function metaReader(cursor: ArchiveCursor): MetaReader {
  let read = 0
  return async (size) => {
    read += size
    if (read > mostMeta) throw new ArchiveError('it has too many names')
    const bytes = await cursor.exactly(size)
    await cursor.skip(padding(size))
    return bytes
  }
}

/** Each name with a letter before it: Y and N are entries of which the archive holds the one, D is a folder. */
const namesOf = (list: Buffer): string[] =>
  list
    .toString('latin1')
    .split('\0')
    .filter((each) => /^[YND]/.test(each))
    .map((each) => each.slice(1))

/** In their order, and within the file. */
async function segmentsOf(cursor: ArchiveCursor, header: Buffer): Promise<Segment[]> {
  const segments: Segment[] = []
  const size = sizeAt(header, 483)
  let end = 0
  function add(from: Buffer, first: number, count: number): void {
    for (let index = 0; index < count; index++) {
      const at = first + index * 24
      if (from[at] === 0) return
      const [start, length] = [sizeAt(from, at), sizeAt(from, at + 12)]
      if (start < end || start + length > size)
        throw new ArchiveError('the holes of a file in it are none')
      end = start + length
      segments.push({ start, length })
    }
  }
  add(header, 386, 4)
  let isExtended = header[482] === 1
  while (isExtended) {
    const more = await cursor.exactly(block)
    add(more, 0, 21)
    if (segments.length > mostSegments) throw new ArchiveError('a file in it has too many holes')
    isExtended = more[504] === 1
  }
  return segments
}

/**
 * The entries of an archive as it is stored. End the reading early by leaving the loop, or by the signal: a few bytes may
 * expand to terabytes, which would be skipped before the next entry comes.
 */
export async function* readArchive(
  compressed: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<ReadEntry> {
  const source = Readable.from(compressed)
  const zstd = createZstdDecompress({ chunkSize })
  let unread: unknown
  source.on('error', (error) => {
    unread = error
    zstd.destroy(error)
  })
  zstd.once('close', () => source.destroy())
  const stop = () => zstd.destroy(new Error('the reading was ended'))
  signal.addEventListener('abort', stop, { once: true })
  source.pipe(zstd)
  async function* decompressed(): AsyncGenerator<Uint8Array> {
    try {
      yield* zstd
    } catch (error) {
      signal.throwIfAborted()
      throw error === unread
        ? error
        : new ArchiveError('it cannot be decompressed', { cause: error })
    }
  }
  try {
    yield* entriesIn(cursorOver(decompressed()))
  } finally {
    signal.removeEventListener('abort', stop)
    zstd.destroy()
  }
}
