/** Where one store's folder stands in this process, for those who look at it and those who bring into it. */
import type { Database } from '../database/database.ts'
import type { AttachedStore } from '../sessions/resources/memory-stores.ts'
import type { Asides } from './asides.ts'
import type { Laid, Ledger } from './ledger.ts'

export type MountDeps = {
  database: Database
  row: AttachedStore
  ledger: Ledger
  asides: Asides
  now: () => number
}

/** As it was when the agent was told why, and what another has put into the store in its place. */
type Left = { stamp: string | null; why: string; theirs?: string }

export type MountState = MountDeps & {
  /** What lies there as the store holds it, or held it. */
  known: Map<string, Laid>
  /** What the store does not take. */
  left: Map<string, Left>
  /** What others changed and the agent has not been told of yet. */
  untold: Set<string>
  /** Lines for the agent. */
  said: Set<string>
  /** What the folder holds of the store; undefined when it must be laid out anew. */
  revision: number | undefined
  /** The store was deleted, and the agent knows. */
  isGone: boolean
  /** The last walk saw all. */
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

export function shownPath({ row }: MountState, path: string): string {
  const whole = row.mount_path + path
  return /\p{Cc}/u.test(whole) ? JSON.stringify(whole) : whole
}

export function portions<T>(all: readonly T[], most = portion): T[][] {
  return Array.from({ length: Math.ceil(all.length / most) }, (_, n) =>
    all.slice(n * most, (n + 1) * most),
  )
}
