/** Reads the archives of checkpoints, each at most once at a time, and never onto the disk. */
import { Readable } from 'node:stream'
import type { CheckpointPart, CheckpointParts } from '@steward/protocol/checkpoints.ts'
import type {
  ArchiveIndex,
  FolderIndex,
  IndexedEntry,
} from '@steward/space/working-folder/archive-index.ts'
import { indexArchive, mergeIndexes } from '@steward/space/working-folder/archive-index.ts'
import { ArchiveError, readArchive } from '@steward/space/working-folder/archive-entries.ts'
import type { EntryPiece } from '@steward/space/working-folder/archive-entries.ts'
import type { Blobs } from '../../ground/blobs/blobs.ts'
import { PlatformError } from '../../ground/core/errors.ts'
import type { Share } from '../../ground/core/fairness/share.ts'

/** The time that one question may read archives. */
export const mostMs = 30_000

type FileInArchive = { entryPath: string; size: number; pieces: AsyncGenerator<EntryPiece> }
export type Archives = ReturnType<typeof archivesIn>

export function archivesIn({ blobs, share }: { blobs: Blobs; share: Share }) {
  async function bodyOf(key: string): Promise<Readable> {
    const found = await blobs.get(key)
    if (!found) throw new ArchiveError('its archive is not there')
    return found.body
  }

  async function indexPart(part: CheckpointPart, signal: AbortSignal) {
    const body = await bodyOf(part.key)
    try {
      return await indexArchive(part, body, signal)
    } finally {
      body.destroy()
    }
  }

  /** The bytes of these files of one archive, in the order of the archive. `wanted`: places in it. */
  async function* read(
    key: string,
    wanted: ReadonlySet<string>,
    signal: AbortSignal,
  ): AsyncGenerator<FileInArchive> {
    const body = await bodyOf(key)
    const left = new Set(wanted)
    try {
      for await (const { entry, pieces } of readArchive(body, signal)) {
        if (!left.delete(entry.path)) continue
        yield { entryPath: entry.path, size: entry.size, pieces: pieces() }
        if (left.size === 0) return
      }
    } finally {
      body.destroy()
    }
  }

  return {
    /** Waits for a slot of the tenant, and gives the work a limited time. */
    async within<T>(
      tenant: string,
      caller: AbortSignal,
      work: (signal: AbortSignal) => Promise<T>,
    ): Promise<T> {
      const signal = AbortSignal.any([caller, AbortSignal.timeout(mostMs)])
      try {
        const release = await share.wait(tenant, signal)
        return await work(signal).finally(release)
      } catch (error) {
        if (error instanceof ArchiveError)
          throw new PlatformError(
            'bad_gateway',
            `the checkpoint of this session cannot be read: ${error.message}`,
          )
        if (!signal.aborted || caller.aborted) throw error
        throw new PlatformError(
          'unavailable',
          `the checkpoint could not be read within ${mostMs / 1_000} seconds: it is large, or the server is busy`,
        )
      }
    },

    /** Returns a function that tells what a checkpoint holds. Checkpoints share archives, which are read once. */
    indexer(signal: AbortSignal) {
      const read = new Map<string, Promise<ArchiveIndex>>()
      function indexOnce(part: CheckpointPart): Promise<ArchiveIndex> {
        const index = read.get(part.key) ?? indexPart(part, signal)
        read.set(part.key, index)
        return index
      }
      return async ({ base, delta }: CheckpointParts): Promise<FolderIndex> => {
        const whole = await indexOnce(base)
        return mergeIndexes(whole, delta ? await indexOnce(delta) : undefined)
      }
    },

    read,

    /** Bytes of a file from `start` up to `end`, with zeros for its holes. */
    file({ archive, entryPath }: IndexedEntry, start: number, end: number): Readable {
      const left = new AbortController()
      async function* bytes(): AsyncGenerator<Uint8Array> {
        for await (const { pieces } of read(archive, new Set([entryPath]), left.signal)) {
          yield* cutPieces(pieces, start, end)
          return
        }
      }
      return Readable.from(bytes()).once('close', () => left.abort())
    },
  }
}

const zeros = new Uint8Array(64 * 1024)

async function* cutPieces(
  pieces: AsyncIterable<EntryPiece>,
  start: number,
  end: number,
): AsyncGenerator<Uint8Array> {
  let at = start
  function* fill(to: number): Generator<Uint8Array> {
    for (; at < to; at += zeros.length) yield zeros.subarray(0, to - at)
    at = to
  }
  for await (const piece of pieces) {
    if (piece.start + piece.bytes.length <= at) continue
    if (piece.start >= end) break
    if (piece.start > at) yield* fill(piece.start)
    const part = piece.bytes.subarray(at - piece.start, end - piece.start)
    // The piece belongs to the archive's reader, which uses its memory again.
    yield Uint8Array.from(part)
    at += part.length
    if (at >= end) return
  }
  if (at < end) yield* fill(end)
}
