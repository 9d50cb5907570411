/** Dependencies and inputs of a session's turns and evaluations. */
import type { History } from '@steward/harness/history.ts'
import type { RunTurn, Turn } from '@steward/harness/turn.ts'
import type { SessionFailure } from '@steward/protocol/events.ts'
import type { Sandbox } from '@steward/sandbox/sandbox.ts'
import type { Database } from '../../ground/database/database.ts'
import type { Fence } from '../../ground/database/lease.ts'
import type { PricedModel } from '../../sessions/log/log.ts'
import type { WorkNotice } from '../../sessions/log/topics.ts'
import type { LateNotices } from './late-notices.ts'
import type { RecoveryLane } from './recovery-lane.ts'
import type { AutomationParts } from '../../sessions/automations.ts'
import type { SessionSlot } from './session-slot.ts'
import type { Crew } from './threads/crew.ts'
import type { TeamRoster } from './threads/effects.ts'
import type { Ground } from '../../ground/ground.ts'

/** What runs turns, and what ends with them. */
export type TurnParts = {
  runTurn: RunTurn
  /** Builds everything a turn needs besides its open calls, or returns why the session cannot have a turn now. */
  assemble: (work: ClaimedWork) => Promise<TurnAssembly>
  /** Ends the session's sandbox in this process, because another process has taken the session over. */
  abandon: (work: WorkNotice) => Promise<void>
  /** Absent where agents have no automations. */
  automations?: AutomationParts | undefined
  /** Removes everything that a deleted session left on this machine. */
  remove: (work: WorkNotice) => Promise<void>
}

/** `database`: that of the session. `running`: the number of sessions that this process runs now. */
export type DrainDeps = Ground &
  TurnParts & { database: Database; recoveries: RecoveryLane; running: () => number }

/**
 * `thread`: the child thread that gets the turn. `crew`, and `begin`, which starts threads, are undefined for an
 * evaluation.
 */
export type ClaimedWork = WorkNotice &
  Pick<Fence, 'generation'> & {
    thread?: string | undefined
    crew?: Pick<Crew, 'changed'>
    begin?: (threads: readonly ThreadStart[]) => void
  }

/** The id of a child thread that is due, or the function that starts a parked thread. */
export type ThreadStart = string | (() => void)

/** `crew`: the threads of the session that run beside this one. */
export type ThreadDeps = DrainDeps & { crew: Crew; steps: LateNotices }

/** Everything of a turn besides its open calls and its time. */
export type AssembledTurn = Omit<Turn, 'open' | 'signal' | 'sleep' | 'joined'>

export type TurnAssembly =
  /** `rested` is called when the turn is over and before its end is stored. `release` is called in every case. */
  | {
      ok: true
      parts: AssembledTurn
      model: PricedModel
      /** True when the session's tools run on workers, which claim the session from the queue. */
      isElsewhere: boolean
      /** Only for an agent that may start other agents. */
      roster?: TeamRoster | undefined
      /** Starts or returns the sandbox of a session whose tools need one. */
      sandbox?: () => Promise<Sandbox>
      rested: () => Promise<void>
      release: () => void
      /** The history from everything in the log so far. */
      readHistory: () => Promise<History>
    }
  | { ok: false; failure: SessionFailure }

export type TurnSignals = {
  /** The server stops: the turn is left for the next process as soon as none of its tool calls runs. */
  stopping: AbortSignal
  /** The turn is left at once and its running tool calls are aborted. */
  cut: AbortSignal
  /** Called at the start of each turn with the function that an interrupt of its thread calls. */
  interrupt: (abort: () => void, thread?: string) => void
  /** Takes the function that is called when something comes to the session. */
  wake: (look: () => Promise<void>) => void
  /** True when something may have come to the session since the last call. */
  takeNews: () => boolean
  slot: Pick<SessionSlot, 'leave' | 'hold' | 'pause'>
  /** Says that the turn has kept something. */
  progressed?: () => void
}
