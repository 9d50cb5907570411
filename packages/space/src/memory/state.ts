/** The state of one store's folder in this process, which `collectFileChanges` and `applyStore` share. */
import type { MemoryChange, MountedMemory, MountedOutcome } from '@steward/protocol/inputs.ts'
import type { DisplacedTexts } from './displaced-texts.ts'
import type { LedgerEntry, Ledger } from './ledger.ts'

/** Access to a store: in the database, or through the service. Each call returns undefined for a deleted store. */
export type KeptStore = {
  /** Hashes by path. They are those of `revision`, or of a later revision. */
  facts(): Promise<{ revision: number; hashes: ReadonlyMap<string, string> } | undefined>
  /** The memories that exist at these paths. */
  contents(paths: readonly string[]): Promise<readonly MountedMemory[]>
  /** Makes the changes in their order. `from`, `to`: the store's revision before and after them. */
  write(
    changes: readonly MemoryChange[],
  ): Promise<{ outcomes: readonly MountedOutcome[]; from: number; to: number } | undefined>
}

export type MountDeps = {
  store: KeptStore
  /** The path of the mount inside the sandbox. */
  path: string
  ledger: Ledger
  asides: DisplacedTexts
}

/**
 * A file that the store refused. `why`: the reason that the agent got. `theirs`: hash of the store's content at the
 * same path.
 */
type LeftFile = { stamp: string | null; why: string; theirs?: string }

export type MountState = MountDeps & {
  /** The content, by path, that the folder got from the store, or that the store took from the folder. */
  known: Map<string, LedgerEntry>
  /** Files, by path, that the store refused. */
  left: Map<string, LeftFile>
  /** Paths of changes of others that the agent has not been told. */
  untold: Set<string>
  /** Lines for the agent. */
  said: Set<string>
  /** The store's revision that the folder shows; undefined when the store must be applied again. */
  revision: number | undefined
  /** True when the store was deleted and the agent has a line about it. */
  isGone: boolean
  /** True when the last walk saw every file. */
  isWhole: boolean
  /**
   * True after a restart of the machine: a difference may be an incomplete write instead of a change of the session.
   */
  isDoubtful: boolean
}

/** Number of contents that are in memory at once, and of changes that share a unit. */
const portion = 50
/** Equals no hash: marks a file that the store's content must replace, or that must be removed. */
export const unwantedHash = ''

export const createMountState = (deps: MountDeps): MountState => ({
  ...deps,
  known: new Map(deps.ledger.entries),
  left: new Map(),
  untold: new Set(),
  said: new Set(),
  revision: undefined,
  isGone: false,
  isWhole: true,
  isDoubtful: false,
})

export function shownPath({ path: root }: MountState, path: string): string {
  const whole = root + path
  return /\p{Cc}/u.test(whole) ? JSON.stringify(whole) : whole
}

export function splitIntoPortions<T>(all: readonly T[], most = portion): T[][] {
  return Array.from({ length: Math.ceil(all.length / most) }, (_, n) =>
    all.slice(n * most, (n + 1) * most),
  )
}
