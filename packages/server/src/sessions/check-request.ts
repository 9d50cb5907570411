/** Checks a request that is stored, and from which sessions are created later. */
import type { Database, Queries } from '../ground/database/database.ts'
import { runUnaudited } from '../ground/core/security/audited-call.ts'
import type { NamedByAgent, SessionRequest } from './create.ts'
import type { OpenSessionDeps } from './open.ts'
import { openSession } from './open.ts'

/** What a stored request names, and what is created in the unit that keeps the request. */
export type RequestMaker = {
  /** What the agent names, where the agent is created. */
  agent?: NamedByAgent | undefined
  make: (
    tx: Queries,
    now: number,
  ) => Promise<{ environment_id?: string; agent?: { id: string; version: number } | undefined }>
}

const ofAgent = { type: 'agent' } as const

class CheckedError extends Error {}

/**
 * Throws when no session could be created from the request now. Creates one in a transaction that is never committed.
 */
export async function checkRequest(
  deps: OpenSessionDeps,
  ref: { db: Database; tenant: string },
  request: SessionRequest,
  maker?: RequestMaker,
): Promise<void> {
  const { limits } = deps
  const quotas = { ...limits.quotas, daily: async () => async () => {} }
  const started = runUnaudited(() =>
    openSession({ ...deps, limits: { ...limits, quotas } }, ref, request, {
      agent: maker?.agent,
      async make(tx, { now }) {
        const { agent, ...made } = (await maker?.make(tx, now)) ?? {}
        if (!agent) return made
        const choice = typeof request.agent === 'string' ? ofAgent : request.agent
        return { ...made, agent: { ...choice, ...agent } }
      },
      async finish() {
        throw new CheckedError('checked')
      },
    }),
  )
  await started.catch((error: unknown) => {
    if (!(error instanceof CheckedError)) throw error
  })
}
