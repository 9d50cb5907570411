/** Where one store's folder stands in this process, for those who look at it and those who bring into it. */
import type { MemoryChange, MountedMemory, MountedOutcome } from '@steward/protocol/inputs.ts'
import type { DisplacedTexts } from './displaced-texts.ts'
import type { LedgerEntry, Ledger } from './ledger.ts'

/** A store, wherever it is kept. Undefined is one that was deleted. */
export type KeptStore = {
  /** Hashes by path, at a revision or a later one. */
  facts(): Promise<{ revision: number; hashes: ReadonlyMap<string, string> } | undefined>
  /** The memories that exist at these paths. */
  contents(paths: readonly string[]): Promise<readonly MountedMemory[]>
  /** One after the other, and between which revisions of the store. */
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

/** As it was when the agent was told why, and what another has put into the store in its place. */
type LeftFile = { stamp: string | null; why: string; theirs?: string }

export type MountState = MountDeps & {
  /** What lies there as the store holds it, or held it. */
  known: Map<string, LedgerEntry>
  /** Contents that the store does not take. */
  left: Map<string, LeftFile>
  /** Changes of others that the agent was not told yet. */
  untold: Set<string>
  /** Lines for the agent. */
  said: Set<string>
  /** What the folder holds of the store; undefined when it must be laid out anew. */
  revision: number | undefined
  /** The store was deleted, and the agent knows. */
  isGone: boolean
  /** True when the last walk saw every file. */
  isWhole: boolean
  /** What differs may be the disk's fault. */
  isDoubtful: boolean
}

/** Contents that are in this process's memory at once, and changes that share a unit. */
const portion = 50
/** The hash of no content: what is known by it is to be laid out anew, or removed. */
export const unwanted = ''

export const stateOf = (deps: MountDeps): MountState => ({
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

export function portions<T>(all: readonly T[], most = portion): T[][] {
  return Array.from({ length: Math.ceil(all.length / most) }, (_, n) =>
    all.slice(n * most, (n + 1) * most),
  )
}
