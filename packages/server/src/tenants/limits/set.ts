/** What the operator allows a workspace in place of what the server is set to. */
import type { Clock } from '@steward/base/time.ts'
import { parseRate, requestClasses } from '../../ground/core/rates.ts'
import type { Databases } from '../../ground/database/database.ts'
import { workspaceId } from '../workspaces/create.ts'
import { workspaceLimitStore } from './store.ts'

/** `default` in place of a rate: that of the server again. The workspace is named by its id or its name. */
export function setLimit(
  { databases, clock }: { databases: Databases; clock: Clock },
  { workspace, name, value }: { workspace: string; name: string; value: string },
): Promise<{ workspace: string; limit: string; value: string }> {
  const of = requestClasses.find((each) => each === name)
  if (!of) throw new Error(`${name} is not a limit; the limits are ${requestClasses.join(', ')}`)
  const rate = value === 'default' ? undefined : parseRate(value)
  return databases.control.write(async (tx) => {
    const tenant = await workspaceId(tx, workspace)
    const key = { name: of, source: 'operator' } as const
    const store = workspaceLimitStore(tx)
    if (!rate) await store.remove(tenant, key)
    else
      await store.set(tenant, { ...key, value: rate.limit, period_ms: rate.periodMs }, clock.now())
    return { workspace: tenant, limit: of, value }
  })
}
