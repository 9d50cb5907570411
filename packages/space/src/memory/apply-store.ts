/** Writes the changes of others into a store's folder, but not over files of the session that the store refuses. */
import { setImmediate as giveWay } from 'node:timers/promises'
import type { StoreFiles } from './files.ts'
import type { MountState } from './state.ts'
import { splitIntoPortions, shownPath, unwantedHash } from './state.ts'

/** Number of files that are written before the event loop gets a turn. */
const atOnce = 10

/** Call after `collectFileChanges`: overwrites changes that the session made since. */
export async function applyStore(state: MountState, files: StoreFiles): Promise<void> {
  const { store, known } = state
  const facts = await store.facts()
  if (!facts) return sayGone(state)
  await removeOthers(state, files, facts.hashes)
  const other = [...facts.hashes].filter(([path, sha]) => known.get(path)?.sha !== sha)
  const wanted = other.filter(([path, sha]) => !isLeft(state, path, sha)).map(([path]) => path)
  for (const some of splitIntoPortions(wanted)) await writeContents(state, files, some)
  state.revision = facts.revision
}

function sayGone(state: MountState): void {
  const { said, path } = state
  if (!state.isGone)
    said.add(`the memory store of ${path} was deleted; nothing written there is kept`)
  state.isGone = true
  state.revision = undefined
}

async function removeOthers(
  { known, left, untold, ledger }: MountState,
  files: StoreFiles,
  hashes: ReadonlyMap<string, string>,
): Promise<void> {
  const gone: string[] = []
  for (const [path, { sha }] of known) {
    if (hashes.has(path) || left.has(path) || !(await files.remove(path))) continue
    if (sha !== unwantedHash) untold.add(path)
    gone.push(path)
  }
  for (const path of gone) known.delete(path)
  await ledger.note(gone.map((path) => ({ path, sha: null })))
}

/**
 * True when the session's file at the path was refused by the store. `sha`: hash of the content that the store has
 * there.
 */
function isLeft(state: MountState, path: string, sha: string): boolean {
  const mine = state.left.get(path)
  if (!mine) return false
  if (mine.theirs !== sha)
    state.said.add(
      `${shownPath(state, path)} was changed by another; what you left there is not kept`,
    )
  mine.theirs = sha
  return true
}

async function writeContents(
  state: MountState,
  files: StoreFiles,
  paths: readonly string[],
): Promise<void> {
  const { store, known, untold, said, ledger } = state
  const laid: { path: string; sha: string }[] = []
  const found = await store.contents(paths)
  const written: boolean[] = []
  for (const few of splitIntoPortions(found, atOnce)) {
    written.push(...(await Promise.all(few.map(({ path, content }) => files.write(path, content)))))
    await giveWay()
  }
  for (const [index, { path, content_sha256: sha }] of found.entries()) {
    if (!written[index]) {
      said.add(`${shownPath(state, path)} cannot be written: something else is in its place`)
      continue
    }
    if (known.get(path)?.sha !== unwantedHash) untold.add(path)
    known.set(path, { sha, stamp: null })
    laid.push({ path, sha })
  }
  await ledger.note(laid)
}
