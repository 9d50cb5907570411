/**
 * Runs one claimed work item from the claim to its end. A failure before a harness process has started leaves the item
 * as it is: it is not stopped, and another worker gets it when its lease or reservation expires.
 */
import type { SessionFolders } from './folders.ts'
import type { Log } from '@steward/base/log.ts'
import type { ClaimClient, WorkAssignment } from './service.ts'
import type { RuntimeVariables } from './variables.ts'

/** A lane runs a session until it rests, ends, or its claim is lost. */
export type Lane = (run: {
  item: WorkAssignment
  claim: ClaimClient
  folders: SessionFolders
  /** The variables of the runtime, except the URL, which depends on the lane. */
  told: Omit<RuntimeVariables, 'baseUrl'>
  log: Log
  /** Aborts when this worker shuts down. */
  signal: AbortSignal
}) => Promise<void>

/** Nothing of the session has started. `isTold`: the session's log has the reason already. */
export class NotBegunError extends Error {
  readonly isTold: boolean

  constructor(message: string, isTold: boolean) {
    super(message)
    this.isTold = isTold
  }
}

export type ItemDeps = {
  environmentId: string
  /** SECRET: never logged. */
  environmentKey: string
  folders: {
    of(session: string): Promise<SessionFolders>
    forget(session: string): Promise<void>
  }
  lane: Lane
  log: Log
}

const readWithinMs = 30_000
const longestMessage = 500

export async function runItem(
  { environmentId, environmentKey, folders, lane, log }: ItemDeps,
  item: WorkAssignment,
  claim: ClaimClient,
  signal: AbortSignal,
): Promise<void> {
  const { work: workId, session: sessionId, secret: workSecret } = item
  const seen = await claim.session(AbortSignal.timeout(readWithinMs))
  if (seen.id !== sessionId || seen.environmentId !== environmentId)
    throw new Error(
      `the claim names session ${sessionId} of environment ${environmentId}, and the service ${seen.id} of ${seen.environmentId}`,
    )
  if (seen.status === 'terminated' || seen.status === 'done' || seen.status === 'failed') {
    await claim.stop()
    await folders.forget(sessionId)
    return
  }
  if (signal.aborted) {
    // Nothing has started: stop, so that the next worker need not wait for the lease to expire.
    await claim.stop()
    return
  }
  const session = await folders.of(sessionId)
  const told = { environmentId, environmentKey, sessionId, workId, workSecret }
  try {
    await lane({ item, claim, folders: session, told, log, signal })
  } catch (error) {
    // Clients of the session see no other sign of a worker that fails again and again.
    if (!(error instanceof NotBegunError && error.isTold)) await tell(claim, sessionId, error, log)
    throw error
  }
}

async function tell(claim: ClaimClient, session: string, cause: unknown, log: Log): Promise<void> {
  const message = (cause as Error).message.slice(0, longestMessage)
  const path = `/v1/ext/inputs/${session}/failure`
  await claim.ask('POST', path, JSON.stringify({ message })).then(
    (answer) => answer.body?.cancel(),
    (error: Error) => log.warn('the session was not told', { session, error: error.message }),
  )
}
