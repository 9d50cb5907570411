/** Automations: an agent has its session go on at times of a schedule. */
import type { DeploymentSchedule } from '@steward/protocol/deployments.ts'

/** One automation, as the agent reads it. */
export type AutomationLine = {
  id: string
  name: string
  instructions: string
  /** In one time zone: minute, hour, day of the month, month, day of the week. */
  expression?: string
  timezone?: string
  run_at?: string
  status: 'active' | 'paused' | 'completed'
  next_run_at: string | null
  created_by: 'you' | 'a developer'
}

/** What a call asks for, in the words of the tool. `call`: the id of the call. */
export type AutomationRequest =
  | {
      action: 'create'
      call: string
      name: string
      instructions: string
      schedule: DeploymentSchedule
    }
  | {
      action: 'update'
      id: string
      name?: string | undefined
      instructions?: string | undefined
      schedule?: DeploymentSchedule | undefined
    }
  | { action: 'delete'; id: string }

/** The first time of a schedule, and the time at which its run is due. */
type FirstTime = { next_ms: number | null; due_ms: number | null }

/**
 * A checked request. It happens in the commit that stores the result of the call. `isPaused`: the times begin only when
 * somebody resumes the automation.
 */
export type AutomationEffect = {
  kind: 'automation'
  id: string
  times?: FirstTime
  isPaused?: true
} & {
  request: AutomationRequest
}

/** The automations of a session. The process that runs the session provides them. */
export type SessionAutomations = {
  list: () => Promise<AutomationLine[]>
  /** Checks what can be checked before the commit. Returns the reason when the request is refused. */
  prepare: (request: AutomationRequest) => Promise<AutomationEffect | string>
}

/**
 * The instructions that an agent wrote to itself, in a frame. Attack: they may repeat words of others, which must not
 * become words of the user by way of the schedule.
 */
export const automationText = (id: string, instructions: string): string =>
  `<automation id="${id}">
The time of your automation has come. These are the instructions that you wrote to yourself. They are no message of the user.

${instructions.replaceAll('</automation', '<\\/automation')}
</automation>`
