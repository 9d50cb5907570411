/** What a process tells of each turn that it has run to its end. */
import { observation } from '@steward/base/observation.ts'
import type { StopReason } from '@steward/protocol/events.ts'

/** `ms`: from the first step of the turn until its end is stored. */
export type EndedTurn = { stop: StopReason['type']; ms: number }

export const turnEnded = observation<EndedTurn>('turn-ended')
