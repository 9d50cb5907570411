import type { Turn } from '@steward/harness/turn.ts'
import type { Bus } from '../../ground/bus/bus.ts'
import { isOutputWanted, sendOutput } from '../../sessions/log/topics.ts'

/** Sends what the commands of a turn write to readers of its session or thread, while there are any. */
export const callOutput =
  (bus: Bus, id: string): NonNullable<Turn['output']> =>
  (call) => ({
    isWanted: () => isOutputWanted(bus, id),
    tell: (piece) => sendOutput(bus, id, { ...piece, call }),
  })
