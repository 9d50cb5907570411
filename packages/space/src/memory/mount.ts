/**
 * Mounts one store as a folder. The session's changes become versions of the store, and changes of others appear in the folder. No text
 * is lost: when two writers change one file, the later writer is told, and the text without a place is kept aside.
 */
import { applyStore } from './apply-store.ts'
import type { StoreFiles } from './files.ts'
import { collectChanges } from './collect-changes.ts'
import type { MountDeps } from './state.ts'
import { shownPath, stateOf } from './state.ts'

export type StoreMount = ReturnType<typeof storeMount>

/** Files that one line names at most. */
const named = 10

export function storeMount(deps: MountDeps) {
  const { store, ledger } = deps
  const state = stateOf(deps)
  const { known, left, untold, said } = state

  async function settle(files: StoreFiles): Promise<void> {
    await collectChanges(state, files)
    if (state.revision === undefined && !state.isGone) await applyStore(state, files)
  }

  return {
    /** Before the session can change anything: first what an earlier sandbox left, then the store. */
    async begin(files: StoreFiles): Promise<void> {
      state.isDoubtful = !ledger.isOfThisBoot
      if (!ledger.entries) {
        const facts = await store.facts()
        for (const [path, sha] of facts?.hashes ?? []) known.set(path, { sha, stamp: null })
      }
      if (state.isDoubtful) for (const laid of known.values()) laid.stamp = null
      await collectChanges(state, files)
      state.isDoubtful = false
      await applyStore(state, files)
      if (ledger.entries?.size === 0) untold.clear()
      await ledger.rewrite(known)
    },

    /** Before the first command: files that are as they were laid out, by how they look in the sandbox. */
    async stamp(files: StoreFiles): Promise<void> {
      for (const { path, isFresh, ...found } of (await files.walk()).files) {
        const file = left.get(path) ?? known.get(path)
        if (file) file.stamp = isFresh ? null : found.stamp
      }
    },

    /** What the session has changed goes into the store; what another changed first comes from it. */
    settle,

    /** Where others have moved the store from what is here; undefined is a store that was deleted. */
    async follow(files: StoreFiles, revision: number | undefined, isWritten: boolean) {
      if (revision === state.revision) return
      if (isWritten) await settle(files)
      if (revision !== state.revision) await applyStore(state, files)
    },

    /** What lies there is on record, if nobody else has begun to record it. */
    async end(files: StoreFiles): Promise<void> {
      if (!(await ledger.isOurs())) return
      await settle(files)
      await ledger.rewrite(known)
    },

    /** Lines for the model, each once. */
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
