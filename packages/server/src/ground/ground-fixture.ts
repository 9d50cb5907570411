/** For tests: a ground of real parts in memory. */
import { jsonLog } from '@steward/base/log.ts'
import { systemClock } from '@steward/base/time.ts'
import { memoryBus } from './bus/memory.ts'
import { createSeal } from './core/security/seal.ts'
import type { Database, Databases } from './database/database.ts'
import { oneDatabase } from './database/database.ts'
import type { Ground } from './ground.ts'

/** `parts`: what the test watches or moves. `lines`: what the log was given, where it is not one of `parts`. */
export function testGround<Parts extends Partial<Ground>>(
  over: Database | Databases,
  parts?: Parts,
): Ground & Parts & { lines: string[] } {
  const lines: string[] = []
  const ground = {
    databases: 'control' in over ? over : oneDatabase(over),
    bus: memoryBus(),
    clock: systemClock,
    log: jsonLog((line) => lines.push(line)),
    seal: createSeal('a root secret of a test'),
  }
  return { ...ground, ...(parts as Parts), lines }
}
