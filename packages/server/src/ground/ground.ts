/** What every part of the service stands on. The start builds it once and hands it whole. */
import type { Log } from '@steward/base/log.ts'
import type { Clock } from '@steward/base/time.ts'
import type { Bus } from './bus/bus.ts'
import type { Seal } from './core/security/seal.ts'
import type { Databases } from './database/database.ts'

/** A function takes it whole and names what it uses. What else a function needs stands beside it: `Ground & { … }`. */
export type Ground = {
  databases: Databases
  bus: Bus
  clock: Clock
  log: Log
  seal: Seal
}
