/**
 * The environment variables of a session's runtime. The runtime gets no other variable of this process.
 * [worker/variable/prefix]
 */

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

/** `ANTHROPIC`: for the unmodified official worker, which hides only variables of its own names from commands. */
export type Prefix = 'VENDOR' | 'ANTHROPIC'

export const runtimeVariables = (
  prefix: Prefix,
  told: RuntimeVariables,
): Record<string, string> => ({
  [`${prefix}_ENVIRONMENT_ID`]: told.environmentId,
  [`${prefix}_ENVIRONMENT_KEY`]: told.environmentKey,
  [`${prefix}_SESSION_ID`]: told.sessionId,
  [`${prefix}_WORK_ID`]: told.workId,
  [`${prefix}_WORK_SECRET`]: told.workSecret,
  [`${prefix}_BASE_URL`]: told.baseUrl,
})
