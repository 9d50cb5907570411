/** Removes what workspaces keep for no longer than a number of days: a part for each workspace, in turn. */
import { dayMs, hourMs } from '@steward/base/settings/kinds.ts'
import type { RetentionDays } from '@steward/protocol/rules.ts'
import { completeEach } from '../../ground/core/failures.ts'
import type { Job } from '../../ground/core/time/jobs.ts'
import type { Ground } from '../../ground/ground.ts'
import { ruleStore } from '../../tenants/limits/rules/store.ts'
import type { OperatorDays } from './days.ts'
import { hasDays, kindsToRemove } from './days.ts'
import { removeDue } from './remove.ts'

const everyMs = hourMs
const workspacesAtOnce = 50

export type RetentionJobDeps = Ground & { retentionDays: OperatorDays }

export function retentionJob(deps: RetentionJobDeps): Job {
  return { name: 'remove what is kept no longer', everyMs, run: keepForDays(deps) }
}

/**
 * Each call serves the next workspaces by id, and each of them with a part of its work. Returns true after the last
 * workspace, where nobody had more than a part. A workspace that fails does not stop the others.
 */
export function keepForDays({
  databases,
  clock,
  retentionDays,
}: RetentionJobDeps): (signal: AbortSignal) => Promise<boolean> {
  /** The last workspace that was served in this round. */
  let last = ''
  /** False: some workspace of this round has more. */
  let isRoundOver = true

  async function serve(
    { tenant, own }: { tenant: string; own: RetentionDays },
    signal: AbortSignal,
  ): Promise<boolean> {
    const kinds = kindsToRemove(retentionDays, own)
    if (kinds.length === 0) return true
    const database = await databases.open(tenant)
    let isAll = true
    for (const { kind, days } of kinds) {
      if (signal.aborted) return true
      const beforeMs = clock.now() - days * dayMs
      const work = { database, tenant, beforeMs, days }
      const ended = { now: () => clock.now(), isOver: () => signal.aborted }
      isAll = (await removeDue(kind, { ...work, ...ended })) && isAll
    }
    return isAll
  }

  return async (signal) => {
    const found = await ruleStore(databases.control.read).workspacesAfter(last, {
      limit: workspacesAtOnce,
      isWithRules: !hasDays(retentionDays),
    })
    const isEnd = found.length < workspacesAtOnce
    last = isEnd ? '' : (found.at(-1)?.tenant ?? '')
    const isAll = await completeEach(found, (each) => serve(each, signal))
    isRoundOver &&= isAll
    if (!isEnd) return false
    const isOver = isRoundOver
    isRoundOver = true
    return isOver
  }
}
