/** Writes the changes of a session in a store's folder to the store, as new versions. */
import { createHash } from 'node:crypto'
import { includesText } from '@steward/base/occurrences.ts'
import type { MountedOutcome } from '@steward/protocol/inputs.ts'
import type { FoundFile, StoreFiles } from './files.ts'
import { mostBytes } from './files.ts'
import type { MountState } from './state.ts'
import { splitIntoPortions, shownPath, unwantedHash } from './state.ts'

/** A change of the session. `stamp` null: the file must be read again to be sure. */
type FileChange = { path: string; stamp: string | null } & ({ content: string } | { deleted: true })

const tooLarge = 'it is larger than 102,400 bytes'
const doubtful = { type: 'doubtful' } as const

/**
 * Writes the session's changes to the store. When another writer changed the same file first, the store keeps that
 * version and `revision` becomes undefined: `applyStore` must write the store's content to the folder.
 */
export async function collectFileChanges(state: MountState, files: StoreFiles): Promise<void> {
  const { known, left, said } = state
  const walked = await files.walk()
  if (!walked.complete && state.isWhole)
    said.add(`${state.path} holds more files than can be read; not all of them are kept`)
  state.isWhole = walked.complete
  const found = new Set(walked.files.map(({ path }) => path))
  const gone = walked.complete ? [...known.keys()].filter((path) => !found.has(path)) : []
  for (const path of left.keys()) if (!found.has(path)) left.delete(path)
  // Deletions come first, because a folder may have become a file.
  for (const some of splitIntoPortions(gone))
    await settle(
      state,
      some.map((path) => ({ path, stamp: null, deleted: true })),
    )
  const changed = walked.files.filter(
    ({ path, stamp }) => known.get(path)?.stamp !== stamp && left.get(path)?.stamp !== stamp,
  )
  for (const some of splitIntoPortions(changed)) {
    const read = await Promise.all(some.map((file) => changeOf(state, files, file)))
    await settle(
      state,
      read.filter((change) => change !== undefined),
    )
  }
}

/** Undefined when the file is unchanged, has disappeared meanwhile, or cannot be stored in a memory store. */
async function changeOf(
  state: MountState,
  files: StoreFiles,
  file: FoundFile,
): Promise<FileChange | undefined> {
  const { path, size } = file
  const stamp = file.isFresh ? null : file.stamp
  const refused = (why: string) => refuse(state, { path, stamp, why })
  if (size > mostBytes) return refused(tooLarge)
  const read = await files.read(path)
  if (!read.ok) {
    if (path.includes('\ufffd')) return refused('its name is not UTF-8')
    return read.isGone ? undefined : refused('it cannot be read')
  }
  const laid = state.known.get(path)
  if (laid?.sha === createHash('sha256').update(read.bytes).digest('hex')) {
    laid.stamp = stamp
    state.left.delete(path)
    return undefined
  }
  if (read.bytes.length > mostBytes) return refused(tooLarge)
  const content = textOf(read.bytes)
  return content === undefined ? refused('it is not UTF-8 text') : { path, stamp, content }
}

function refuse(
  state: MountState,
  { path, stamp, why }: { path: string; stamp: string | null; why: string },
): undefined {
  const { left, said } = state
  if (left.get(path)?.why !== why)
    said.add(`${shownPath(state, path)} is not kept in the memory store: ${why}`)
  left.set(path, { ...left.get(path), stamp, why })
}

/**
 * Writes changes to the store, then to `known`, then to the ledger. After a crash in between, the changes are found
 * again.
 */
async function settle(state: MountState, changes: readonly FileChange[]): Promise<void> {
  if (changes.length === 0) return
  const outcomes = state.isDoubtful ? changes.map(() => doubtful) : await write(state, changes)
  for (const [index, change] of changes.entries()) {
    const outcome = outcomes[index]
    if (outcome) await apply(state, change, outcome)
  }
  const kept = changes.filter((_, index) => outcomes[index]?.type === 'ok')
  await state.ledger.note(
    kept.map(({ path }) => ({ path, sha: state.known.get(path)?.sha ?? null })),
  )
}

async function write(
  state: MountState,
  changes: readonly FileChange[],
): Promise<readonly MountedOutcome[]> {
  const wanted = changes.map(({ stamp: _, ...change }) => ({
    ...change,
    expected_sha: state.known.get(change.path)?.sha ?? null,
  }))
  const unit = await state.store.write(wanted)
  if (!unit) return changes.map(() => ({ type: 'refused', why: 'the store was deleted' }))
  state.revision = unit.from === state.revision ? unit.to : undefined
  return unit.outcomes
}

async function apply(
  state: MountState,
  change: FileChange,
  outcome: MountedOutcome | typeof doubtful,
): Promise<void> {
  const { known, left } = state
  const { path, stamp } = change
  if (outcome.type === 'refused') {
    if ('deleted' in change) known.delete(path)
    else refuse(state, { path, stamp, why: outcome.why })
    return
  }
  left.delete(path)
  if (outcome.type !== 'ok') return giveWay(state, change, outcome)
  if (outcome.memory) known.set(path, { sha: outcome.memory.content_sha256, stamp })
  else known.delete(path)
  if (!state.untold.delete(path) || !outcome.replaced) return
  const theirs = outcome.replaced.content
  if ('content' in change && includesText(change.content, theirs)) return
  const about = `conflict: ${shownPath(state, path)} had been changed by another since your last command; what you left is the newest now, and what they wrote is in`
  await putAside(state, path, theirs, about)
}

/** Lets the store's content replace the session's text, and keeps that text as a displaced text. */
async function giveWay(
  state: MountState,
  change: FileChange,
  outcome: Extract<MountedOutcome, { type: 'conflict' }> | typeof doubtful,
): Promise<void> {
  const { known, said } = state
  const { path, stamp } = change
  state.revision = undefined
  const shown = shownPath(state, path)
  if ('deleted' in change) {
    known.delete(path)
    if (outcome.type === 'conflict')
      said.add(
        `conflict: ${shown} was changed by another before you deleted it, and is there again`,
      )
    return
  }
  known.set(path, { sha: unwantedHash, stamp })
  const about =
    outcome.type === 'conflict'
      ? `conflict: ${shownPath(state, outcome.current.path)} was changed by another before you changed ${shown}; what they wrote stays, and your text is in`
      : `${shown} may not have been written whole when the machine stopped; what was found is in`
  await putAside(state, path, change.content, about)
}

const putAside = (
  { asides, path: root }: MountState,
  path: string,
  content: string,
  about: string,
): Promise<void> => asides.keep(root.slice(root.lastIndexOf('/')) + path, content, about)

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (error) {
    if (error instanceof TypeError) return undefined
    throw error
  }
}
