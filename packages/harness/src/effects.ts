/** The effect of a call's result, in the commit that stores the result. */
import type { AutomationEffect } from './automations.ts'
import type { ThreadEffect } from './threads.ts'
import type { WakeupEffect } from './wakeups.ts'

export type CallEffect = ThreadEffect | WakeupEffect | AutomationEffect
