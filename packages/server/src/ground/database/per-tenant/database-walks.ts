/** The ways in which jobs visit tenants' databases: those with due work, all, or a part at each run. */
import type { Database, Databases } from '../database.ts'
import { tenantDatabaseStore } from './tenant-databases.ts'

/** Milliseconds within which a job visits every database. */
const walkMs = 6 * 60 * 60_000

type DatabaseWalkDeps = {
  control: Database
  databaseOf: (tenant: string) => Database
  /** Rejects for a database that cannot be opened, and logs why. */
  reach: (tenant: string) => Promise<void>
  /** Tenants whose databases a job has to look at, now or within so many milliseconds. */
  dueTenants: (aheadMs?: number) => Promise<Iterable<string>>
}

export function databaseWalks({
  control,
  databaseOf,
  reach,
  dueTenants,
}: DatabaseWalkDeps): Pick<Databases, 'due' | 'every' | 'walk'> {
  /** Opens each database when the job reaches it. Leaves out those that fail to open. */
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

/** The tenants of the next part. The first part is random, so that a process that restarts often also visits all. */
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
