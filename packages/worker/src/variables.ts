/** What the runtime of a session is told, and nothing else of this process. [worker/variable/prefix] */

export type RuntimeVariables = {
  environmentId: string
  /** SECRET: never logged. */
  environmentKey: string
  sessionId: string
  workId: string
  /** SECRET: never logged. */
  workSecret: string
  baseUrl: string
}

/** `ANTHROPIC`: for the unmodified official worker, which hides its own names alone from the commands that it runs. */
export type Prefix = 'VENDOR' | 'ANTHROPIC'

export const variables = (prefix: Prefix, told: RuntimeVariables): Record<string, string> => ({
  [`${prefix}_ENVIRONMENT_ID`]: told.environmentId,
  [`${prefix}_ENVIRONMENT_KEY`]: told.environmentKey,
  [`${prefix}_SESSION_ID`]: told.sessionId,
  [`${prefix}_WORK_ID`]: told.workId,
  [`${prefix}_WORK_SECRET`]: told.workSecret,
  [`${prefix}_BASE_URL`]: told.baseUrl,
})
