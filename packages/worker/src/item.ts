/**
 * One claimed item, from the claim to its end. What fails before a harness has started leaves the item as it is: nothing is
 * stopped, and another worker has it when its lease or reservation runs out.
 */
import type { SessionFolders } from './folders.ts'
import type { Log } from '@steward/base/log.ts'
import type { ClaimClient, WorkAssignment } from './service.ts'
import type { RuntimeVariables } from './variables.ts'

/** A lane: runs what a session needs until it rests, is ended, or must be left. */
export type Lane = (run: {
  item: WorkAssignment
  claim: ClaimClient
  place: SessionFolders
  /** All but the URL, which depends on where it is told. */
  told: Omit<RuntimeVariables, 'baseUrl'>
  log: Log
  /** Aborts when this worker shuts down. */
  signal: AbortSignal
}) => Promise<void>

/** Nothing of the session began. `isTold`: its log has it already. */
export class NotBegun extends Error {
  readonly isTold: boolean

  constructor(message: string, isTold: boolean) {
    super(message)
    this.isTold = isTold
  }
}

export type Deps = {
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
  { environmentId, environmentKey, folders, lane, log }: Deps,
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
    // Nothing has begun, and nobody needs to wait for the lease to run out.
    await claim.stop()
    return
  }
  const place = await folders.of(sessionId)
  const told = { environmentId, environmentKey, sessionId, workId, workSecret }
  try {
    await lane({ item, claim, place, told, log, signal })
  } catch (error) {
    // Whoever waits for the session would see nothing else of a worker that tries in vain.
    if (!(error instanceof NotBegun && error.isTold)) await tell(claim, sessionId, error, log)
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
