/** Checks a request that is stored, and from which sessions are created later. */
import type { Database, Queries } from '../ground/database/database.ts'
import { runUnaudited } from '../ground/core/security/audited-call.ts'
import type { SessionRequest } from './create.ts'
import type { OpenSessionDeps } from './open.ts'
import { openSession } from './open.ts'

/** Creates the environment of the sessions in the unit that keeps the request. Returns its id. */
export type MakeEnvironment = (tx: Queries, now: number) => Promise<string>

class CheckedError extends Error {}

/**
 * Throws when no session could be created from the request now. Creates one in a transaction that is never committed.
 */
export async function checkRequest(
  deps: OpenSessionDeps,
  ref: { db: Database; tenant: string },
  request: SessionRequest,
  makeEnvironment?: MakeEnvironment,
): Promise<void> {
  const { limits } = deps
  const quotas = { ...limits.quotas, daily: async () => async () => {} }
  const started = runUnaudited(() =>
    openSession({ ...deps, limits: { ...limits, quotas } }, ref, request, {
      make: async (tx, { now }) =>
        makeEnvironment ? { environment_id: await makeEnvironment(tx, now) } : {},
      async finish() {
        throw new CheckedError('checked')
      },
    }),
  )
  await started.catch((error: unknown) => {
    if (!(error instanceof CheckedError)) throw error
  })
}
