/** What the result of a call brings about, in the commit that stores the result. */
import type { ThreadEffect } from './threads.ts'
import type { WakeupEffect } from './wakeups.ts'

export type CallEffect = ThreadEffect | WakeupEffect
