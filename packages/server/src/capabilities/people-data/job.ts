/**
 * Takes the names of deleted people out of the rows of workspaces. The id stays there, so that what one person has made
 * can still be told from what another has. Every process may work on it: each step is the same when it is done again.
 */
import { minuteMs } from '@steward/base/settings/kinds.ts'
import { NoWorkspaceError } from '../../ground/core/errors.ts'
import { completeEach } from '../../ground/core/failures.ts'
import type { Job } from '../../ground/core/time/jobs.ts'
import type { Database, Queries } from '../../ground/database/database.ts'
import type { Ground } from '../../ground/ground.ts'
import { auditRemoval } from '../../tenants/audit/removal.ts'
import type { PersonRemovalRow } from '../../tenants/people/removals.ts'
import { personRemovalsTopic, personRemovalStore } from '../../tenants/people/removals.ts'
import { ruleStore } from '../../tenants/limits/rules/store.ts'

const everyMs = minuteMs
const [workspacesAtOnce, rowsAtOnce] = [20, 250]

export function personRemovalJob(deps: Ground): Job {
  return {
    name: 'remove names of deleted people',
    everyMs,
    run: removeNames(deps),
    start: (runNow) => deps.bus.subscribe(personRemovalsTopic, runNow),
  }
}

/** Each call does a part for each person. Returns true when nothing is left. */
export function removeNames({ databases, clock }: Ground): () => Promise<boolean> {
  const { control } = databases

  async function removePart({ person_id: person, after_tenant }: PersonRemovalRow) {
    const found = await ruleStore(control.read).workspacesAfter(after_tenant, {
      limit: workspacesAtOnce,
      isWithRules: false,
    })
    for (const { tenant } of found) {
      const changed = await removeIn(tenant, person)
      await control.write((tx) => personRemovalStore(tx).passed(person, tenant, changed))
    }
    if (found.length === workspacesAtOnce) return false
    await control.write(async (tx) => {
      const ended = await personRemovalStore(tx).end(person)
      if (!ended) return
      const facts = { rows: ended.changed, asked_at: ended.asked_at }
      const line = { action: 'user.remove_names', type: 'user', id: person, facts } as const
      await auditRemoval(tx, '', line, clock.now())
    })
    return true
  }

  async function removeIn(tenant: string, person: string): Promise<number> {
    const database = await databases.open(tenant).catch((error: unknown) => {
      if (error instanceof NoWorkspaceError) return undefined
      throw error
    })
    return database ? removeNamesAt(database, tenant, person) : 0
  }

  return async () => completeEach(await personRemovalStore(control.read).all(), removePart)
}

/** Returns the number of rows whose name is gone. */
async function removeNamesAt(database: Database, tenant: string, person: string): Promise<number> {
  let changed = 0
  for (const removeSome of [ofSessions, ofAgentVersions, ofHolds, ofReleases])
    for (let count = rowsAtOnce; count === rowsAtOnce;) {
      count = await database.write((tx) => removeSome(tx, tenant, person))
      changed += count
    }
  return changed
}

type RemoveSome = (tx: Queries, tenant: string, person: string) => Promise<number>

const ofSessions: RemoveSome = async (tx, tenant, person) => {
  const some = tx
    .selectFrom('sessions')
    .select('id')
    .where('tenant_id', '=', tenant)
    .where('creator_id', '=', person)
    .where('creator_name', 'is not', null)
    .limit(rowsAtOnce)
  const { numUpdatedRows } = await tx
    .updateTable('sessions')
    .set({ creator_name: null })
    .where('tenant_id', '=', tenant)
    .where('id', 'in', some)
    .executeTakeFirst()
  return Number(numUpdatedRows)
}

/** Few versions of a workspace are of one person: one statement has all. */
const ofAgentVersions: RemoveSome = async (tx, tenant, person) => {
  await tx
    .updateTable('agent_versions')
    .set({ creator_name: null })
    .where('tenant_id', '=', tenant)
    .where('creator_id', '=', person)
    .where('creator_name', 'is not', null)
    .execute()
  return 0
}

const ofHolds: RemoveSome = async (tx, tenant, person) => {
  await tx
    .updateTable('holds')
    .set({ creator_name: null })
    .where('tenant_id', '=', tenant)
    .where('creator_id', '=', person)
    .execute()
  return 0
}

const ofReleases: RemoveSome = async (tx, tenant, person) => {
  await tx
    .updateTable('holds')
    .set({ releaser_name: null })
    .where('tenant_id', '=', tenant)
    .where('releaser_id', '=', person)
    .execute()
  return 0
}
