/** Copies one output file of a session into the blob store, if the limits allow it and the content has changed. */
import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { isDenied } from '@steward/space/working-folder/opened-folder.ts'
import { outputName } from '@steward/protocol/outputs.ts'
import type { BlobKeeping } from '../../ground/blobs/blob-keeping.ts'
import { newId } from '../../ground/core/text/ids.ts'
import type { Clock } from '@steward/base/time.ts'
import type { FileRow } from '../../resources/files/store.ts'
import { quotaMessage, mostNames, nameObjection } from '../../sessions/outputs/limits.ts'
import type { OutputRow } from '../../sessions/rows/outputs.ts'
import { outputFile } from '../../sessions/rows/outputs.ts'
import type { OutputFile, SkippedOutput } from './walk.ts'
import { unreadableReason, openIn } from './walk.ts'

export type OutputLimits = {
  /** Bytes of one file. */
  largest: number
  /** Bytes that one turn publishes; separately, bytes that it reads again to compare contents. */
  turn: number
}

/** State of a session between its turns: stamps of published files, and warnings that were given. */
export type PublishState = { stamps: Map<string, string>; told: Set<string> }

/** The publication at the end of one turn. */
export type OutputPublication = {
  tenant: string
  session: string
  root: FileHandle
  /** Published files by name. */
  known: ReadonlyMap<string, OutputRow>
  /** Bytes that the workspace stores so far, and the most it may. */
  stored: number
  most: number
  state: PublishState
  left: SkippedOutput[]
  spent: { names: number; copied: number; read: number }
}

export type Copy = { name: string; found: OutputFile; key: string; row: FileRow }

export type CopyDeps = { keeping: BlobKeeping; clock: Clock; limits: OutputLimits }

export function noteOutput({ stamps }: PublishState, name: string, { stamp }: OutputFile): void {
  if (stamp === undefined) stamps.delete(name)
  else stamps.set(name, stamp)
}

/** Copies one file. Undefined when the file has disappeared, is unchanged, or is skipped. */
export async function copyOutput(
  deps: CopyDeps,
  pass: OutputPublication,
  parts: readonly string[],
): Promise<Copy | undefined> {
  const leave = (why: string) => void pass.left.push({ path: parts.join('/'), why })
  const name = outputName(parts)
  const unfit = nameObjection(name)
  if (unfit !== undefined) return leave(unfit)
  const opened = await openIn(pass.root, parts).catch((error: unknown) => {
    if (!isDenied(error)) throw error
    return leave(unreadableReason)
  })
  if (!opened) return undefined
  const { file, found } = opened
  try {
    const copied = await copyIfChanged(deps, pass, name, opened)
    if (typeof copied === 'string') return leave(copied)
    if (copied) return { name, found, ...copied }
    noteOutput(pass.state, name, found)
    return undefined
  } finally {
    await file.close()
  }
}

type OpenOutput = { file: FileHandle; found: OutputFile }

/** Returns a copy, undefined for unchanged content, or the reason why the file is skipped. */
async function copyIfChanged(
  { keeping, clock, limits }: CopyDeps,
  pass: OutputPublication,
  name: string,
  { file, found }: OpenOutput,
): Promise<Pick<Copy, 'key' | 'row'> | string | undefined> {
  const { tenant, session, known, spent } = pass
  const { largest } = limits
  if (found.size > largest) return tooLarge(largest)
  const last = known.get(name)
  try {
    if (last) {
      if (spent.read + found.size > limits.turn) return tooMuch(limits)
      spent.read += found.size
      if ((await hashOf(file, largest)) === last.sha256) return undefined
    }
    const why = noRoom(limits, pass, found, !last)
    if (why !== undefined) return why
    const id = newId('file')
    const key = `files/${tenant}/${id}`
    const { size, sha256 } = await keeping.put(tenant, key, bytesOf(file, largest))
    const made = { tenant, id, session, name, key, size, sha256, now: clock.now() }
    return { key, row: outputFile(made) }
  } catch (error) {
    if (error instanceof TooLarge) return tooLarge(largest)
    throw error
  }
}

const tooLarge = (largest: number): string => `it is larger than ${largest} bytes`
/** Why a file waits for the next turn. */
export const tooMuch = ({ turn }: OutputLimits): string =>
  `a turn publishes ${turn} bytes; the next one goes on`

/** Spends the file's bytes when there is room; returns the reason when there is none. */
function noRoom(
  limits: OutputLimits,
  { spent, stored, most }: OutputPublication,
  { size }: OutputFile,
  isNew: boolean,
): string | undefined {
  if (isNew && spent.names === mostNames) return `a session publishes at most ${mostNames} names`
  if (spent.copied + size > limits.turn) return tooMuch(limits)
  if (stored + spent.copied + size > most) return quotaMessage(most)
  if (isNew) spent.names++
  spent.copied += size
  return undefined
}

class TooLarge extends Error {
  override readonly name = 'TooLarge'
}

const pieceBytes = 256 * 1024

async function* bytesOf(file: FileHandle, largest: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; ;) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafeSlow(pieceBytes), {
      position: at,
    })
    if (bytesRead === 0) return
    at += bytesRead
    if (at > largest) throw new TooLarge()
    yield buffer.subarray(0, bytesRead)
  }
}

async function hashOf(file: FileHandle, largest: number): Promise<string> {
  const hash = createHash('sha256')
  for await (const piece of bytesOf(file, largest)) hash.update(piece)
  return hash.digest('hex')
}
