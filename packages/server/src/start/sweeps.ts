/** The periodic jobs that every process runs over its databases. */
import { auditSweep } from '../tenants/audit/sweep.ts'
import type { Keeping } from '../ground/blobs/keeping.ts'
import type { Bus } from '../ground/bus/bus.ts'
import { checkpointSweep } from '../resources/checkpoints/sweep.ts'
import type { Config } from '../ground/config/config.ts'
import type { Log } from '@steward/base/log.ts'
import type { Sweep } from '../ground/core/sweep.ts'
import type { Clock } from '@steward/base/time.ts'
import type { Databases } from '../ground/database/database.ts'
import { fileSweep } from '../resources/files/sweep.ts'
import { memorySweep } from '../resources/memory-stores/sweep.ts'
import { sessionSweep } from '../sessions/sweep.ts'
import { stdioSweep } from '../sessions/stdio-servers/sweep.ts'
import { workSweep } from '../sessions/work/sweep.ts'

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
