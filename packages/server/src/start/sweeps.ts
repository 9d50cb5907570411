/** The periodic jobs that every process runs over its databases. */
import { auditSweep } from '../audit/sweep.ts'
import type { Keeping } from '../blobs/keeping.ts'
import type { Bus } from '../bus/bus.ts'
import { checkpointSweep } from '../checkpoints/sweep.ts'
import type { Config } from '../config.ts'
import type { Log } from '../core/log.ts'
import type { Sweep } from '../core/sweep.ts'
import type { Clock } from '../core/time.ts'
import type { Databases } from '../database/database.ts'
import { fileSweep } from '../files/sweep.ts'
import { memorySweep } from '../memory-stores/sweep.ts'
import { sessionSweep } from '../sessions/sweep.ts'
import { stdioSweep } from '../stdio-servers/sweep.ts'
import { workSweep } from '../work/sweep.ts'

type SweepDeps = { databases: Databases; bus: Bus; clock: Clock; keeping: Keeping; log: Log }

/** Closed all at once. */
export const together = (sweeps: readonly Sweep[]): Sweep => ({
  close: async () => void (await Promise.all(sweeps.map((sweep) => sweep.close()))),
})

export const sweepsOf = (
  { work, checkpoints: kept, retention }: Config,
  deps: SweepDeps,
): Sweep[] => [
  fileSweep(deps),
  memorySweep(deps),
  workSweep({ ...deps, ...work }),
  stdioSweep(deps),
  checkpointSweep({ ...deps, ...kept }),
  sessionSweep({ ...deps, ...retention }),
  auditSweep({ ...deps, ...retention }),
]
