/** What a process tells of the turns that it runs. */
import { observation } from '@steward/base/observation.ts'
import type { StopReason } from '@steward/protocol/events.ts'

export type BegunTurn = {
  session: string
  /** The agent's name. */
  agent: string
  provider: string
  model: string
}

/** Told when everything that a turn needs is there, and before its first request. */
export const turnBegun = observation<BegunTurn>('turn-begun')

export type EndedTurn = {
  session: string
  /** `left`: the server stops, and another process goes on. `lost`: another process has taken the session over. */
  stop: StopReason['type'] | 'left' | 'lost'
  /** From the first step of the turn until its end is stored. */
  ms: number
}

export const turnEnded = observation<EndedTurn>('turn-ended')
