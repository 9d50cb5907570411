/** The ways of jobs past tenants' databases: those in which something is due, all, and a few at each run. */
import type { Database, Databases } from '../database.ts'
import { tenantDatabaseStore } from './tenant-databases.ts'

/** A job comes to every database within this time. */
const walkMs = 6 * 60 * 60_000

type DatabaseWalkDeps = {
  control: Database
  databaseOf: (tenant: string) => Database
  /** Rejects for a database that cannot be opened, and logs why. */
  reach: (tenant: string) => Promise<void>
  /** Those to look at now, or in so many milliseconds, where control's rows and the shape say so. */
  dueTenants: (aheadMs?: number) => Promise<Iterable<string>>
}

export function databaseWalks({
  control,
  databaseOf,
  reach,
  dueTenants,
}: DatabaseWalkDeps): Pick<Databases, 'due' | 'every' | 'walk'> {
  /** Opens each as a job comes to it, and leaves out those that cannot be opened. */
  async function* reachable(tenants: Iterable<string>): AsyncGenerator<Database> {
    for (const tenant of tenants) {
      const isThere = await reach(tenant).then(
        () => true,
        () => false,
      )
      if (isThere) yield databaseOf(tenant)
    }
  }
  return {
    async *due(aheadMs) {
      yield* reachable(await dueTenants(aheadMs))
    },
    async every() {
      return (await tenantDatabaseStore(control.read).all()).map(databaseOf)
    },
    walk(everyMs) {
      const next = walker(control, everyMs)
      return async function* () {
        yield* reachable(new Set([...(await dueTenants()), ...(await next())]))
      }
    },
  }
}

/** The tenants of the next part. A process begins anywhere, so that one that is often started again comes to all of them too. */
function walker({ read }: Pick<Database, 'read'>, everyMs: number, random = Math.random) {
  const rows = tenantDatabaseStore(read)
  let last: string | undefined
  return async (): Promise<string[]> => {
    const count = await rows.count()
    if (count === 0) return []
    if (last === undefined) {
      const all = await rows.all()
      last = all[Math.floor(random() * all.length)] ?? ''
    }
    const limit = Math.ceil((count * everyMs) / walkMs)
    const part = await rows.after(last, limit)
    if (part.length < limit) part.push(...(await rows.after('', limit - part.length)))
    last = part.at(-1) ?? ''
    return [...new Set(part)]
  }
}
