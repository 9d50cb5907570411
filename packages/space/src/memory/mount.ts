/**
 * Mounts one store as a folder. The session's changes become versions of the store, and changes of others appear in the
 * folder. No text is lost: when two writers change one file, the later writer gets a notice, and the displaced text is
 * kept elsewhere.
 */
import { applyStore } from './apply-store.ts'
import type { StoreFiles } from './files.ts'
import { collectFileChanges } from './collect-changes.ts'
import type { MountDeps } from './state.ts'
import { shownPath, createMountState } from './state.ts'

export type StoreMount = ReturnType<typeof storeMount>

/** Largest number of files that one line names. */
const named = 10

export function storeMount(deps: MountDeps) {
  const { store, ledger } = deps
  const state = createMountState(deps)
  const { known, left, untold, said } = state

  async function settle(files: StoreFiles): Promise<void> {
    await collectFileChanges(state, files)
    if (state.revision === undefined && !state.isGone) await applyStore(state, files)
  }

  return {
    /**
     * Call before the sandbox starts. Writes changes of an earlier sandbox to the store, then the store's content to
     * the folder.
     */
    async begin(files: StoreFiles): Promise<void> {
      state.isDoubtful = !ledger.isOfThisBoot
      if (!ledger.entries) {
        const facts = await store.facts()
        for (const [path, sha] of facts?.hashes ?? []) known.set(path, { sha, stamp: null })
      }
      if (state.isDoubtful) for (const laid of known.values()) laid.stamp = null
      await collectFileChanges(state, files)
      state.isDoubtful = false
      await applyStore(state, files)
      if (ledger.entries?.size === 0) untold.clear()
      await ledger.rewrite(known)
    },

    /** Call before the first command. Records the stamps that the files have inside the sandbox. */
    async stamp(files: StoreFiles): Promise<void> {
      for (const { path, isFresh, ...found } of (await files.walk()).files) {
        const file = left.get(path) ?? known.get(path)
        if (file) file.stamp = isFresh ? null : found.stamp
      }
    },

    /**
     * Writes the session's changes to the store. After a conflict, or when the folder is not up to date, applies the
     * store.
     */
    settle,

    /** Applies changes of others to the folder. `revision`: the store's current one; undefined for a deleted store. */
    async follow(files: StoreFiles, revision: number | undefined, isWritten: boolean) {
      if (revision === state.revision) return
      if (isWritten) await settle(files)
      if (revision !== state.revision) await applyStore(state, files)
    },

    /** Settles and rewrites the ledger, unless another process has opened the ledger. */
    async end(files: StoreFiles): Promise<void> {
      if (!(await ledger.isOurs())) return
      await settle(files)
      if (await ledger.isOurs()) await ledger.rewrite(known)
    },

    /** Lines for the model since the last call. */
    takeSaid(): string[] {
      const changed = [...untold].map((path) => shownPath(state, path))
      const others = changed.length - named
      const more = others > 0 ? ` and ${others} more` : ''
      const news = `changed by others meanwhile: ${changed.slice(0, named).join(', ')}${more}`
      const lines = [...said, ...(changed.length > 0 ? [news] : [])]
      untold.clear()
      said.clear()
      return lines
    },
  }
}
