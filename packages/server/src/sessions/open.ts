/** Creates a session. All surfaces create sessions by this function. */
import type { ModelRef } from '@steward/protocol/agents.ts'
import type { Session, SessionCreate } from '@steward/protocol/sessions.ts'
import type { ActingThing } from '../ground/core/security/audited-call.ts'
import { newId } from '../ground/core/text/ids.ts'
import type { Database, Queries } from '../ground/database/database.ts'
import type { Ground } from '../ground/ground.ts'
import type { ResolveModel } from '../resources/model-cards/resolve.ts'
import type { SessionRequest } from './create.ts'
import { checkBudget, checkSpeed, createSession, resolveSessionModels } from './create.ts'
import { checkSessionRules } from './rules.ts'
import { withRubrics } from './events/rubrics.ts'
import { withLongTexts } from './log/long-texts.ts'
import type { ResourceKinds } from './resources/kinds.ts'
import type { Refusals } from './resources/supported.ts'
import type { Limits } from '../tenants/limits/limits.ts'
import type { BlobKeeping } from '../ground/blobs/blob-keeping.ts'

export type OpenSessionDeps = Refusals &
  Ground & {
    resolveModel: ResolveModel
    limits: Limits
    kinds: ResourceKinds
    keeping: BlobKeeping
    /** The deployment that creates the session. */
    deploymentId?: string | undefined
    /** What creates the session, where no caller does. */
    actor?: ActingThing | undefined
  }

/** Fields of a session that refer to rows that are created in the same unit, for this session alone. */
export type SessionAdditions = Pick<SessionCreate, 'agent' | 'environment_id' | 'resources'>

/** Creates further rows in the unit of a session. `model`: model of the agent that `make` creates. */
export type SessionMaker = {
  model?: ModelRef | undefined
  make: (tx: Queries, session: { id: string; now: number }) => Promise<Partial<SessionAdditions>>
  /** Runs in the same unit, after the session is created. */
  finish: (tx: Queries, made: Partial<SessionAdditions>, now: number) => Promise<void>
}

const nothingMade: SessionMaker = { make: async () => ({}), finish: async () => {} }

export async function openSession(
  deps: OpenSessionDeps,
  { db, tenant }: { db: Database; tenant: string },
  asked: SessionRequest,
  { model, make, finish }: SessionMaker = nothingMade,
): Promise<Session> {
  const { clock, resolveModel, limits, keeping } = deps
  const given = { tenant, read: db.read, blobs: keeping.blobs, now: clock.now() }
  const events = await withRubrics(given, asked.initial_events ?? [], 'initial_events')
  const models = model
    ? { agents: [{ model, at: 'agent' }], advisors: [] }
    : await resolveSessionModels(db.read, tenant, asked.agent)
  const checked = { resolveModel, tenant, models }
  await checkSessionRules({ ...deps, db }, checked, asked)
  await checkSpeed(checked)
  if (asked.budget) await checkBudget(checked)
  const countSession = await limits.quotas.daily(tenant)
  const id = newId('session')
  const ref = { tenant, session: id, clock }
  return withLongTexts(
    db,
    ref,
    events,
    async () => {},
    (texts) =>
      db.write(async (tx) => {
        const now = clock.now()
        await countSession(tx)
        const made = await make(tx, { id, now })
        const input = { ...asked, ...made, initial_events: events }
        const created = await createSession(tx, tenant, input, { ...deps, id, texts, now })
        await finish(tx, made, now)
        return created
      }),
  )
}
