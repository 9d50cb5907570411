/** What the operator allows a workspace in place of what the server is set to. */
import { quotaNames } from '@steward/protocol/quotas.ts'
import type { Clock } from '@steward/base/time.ts'
import { parseRate, requestClasses } from '../../ground/core/rates.ts'
import type { Databases } from '../../ground/database/database.ts'
import { workspaceId } from '../workspaces/create.ts'
import { workspaceLimitStore } from './store.ts'

/** `default` in place of a value: that of the server again. The workspace is named by its id or its name. */
export function setLimit(
  { databases, clock }: { databases: Databases; clock: Clock },
  { workspace, name, value }: { workspace: string; name: string; value: string },
): Promise<{ workspace: string; limit: string; value: string }> {
  const limit = limitNamed(name, value)
  return databases.control.write(async (tx) => {
    const tenant = await workspaceId(tx, workspace)
    const store = workspaceLimitStore(tx)
    if (limit) await store.set(tenant, { name, source: 'operator', ...limit }, clock.now())
    else await store.remove(tenant, { name, source: 'operator' })
    return { workspace: tenant, limit: name, value }
  })
}

/** Undefined for `default`. */
function limitNamed(name: string, value: string): { value: number; period_ms: number } | undefined {
  const isRate = requestClasses.some((each) => each === name)
  if (!isRate && !quotaNames.some((each) => each === name))
    throw new Error(
      `${name} is not a limit; the limits are ${[...requestClasses, ...quotaNames].join(', ')}`,
    )
  if (value === 'default') return undefined
  if (isRate) {
    const { limit, periodMs } = parseRate(value)
    return { value: limit, period_ms: periodMs }
  }
  if (!/^\d{1,9}$/.test(value))
    throw new Error(`${JSON.stringify(value)} is not a number of ${name}: write a whole number`)
  return { value: Number(value), period_ms: 0 }
}
