/**
 * Postgres with a schema for each tenant in one database, with one pool, one listener and one set of locks. Connections
 * keep no schema: each unit and each read names its schema itself.
 */
import { type SharedRun, runOnce } from '@steward/base/shared-runs.ts'
import type { Clock } from '@steward/base/time.ts'
import type { Log } from '@steward/base/log.ts'
import { runUnaudited } from '../../core/security/audited-call.ts'
import { NoWorkspaceError, WorkspaceDatabaseError, StorageError } from '../../core/errors.ts'
import type { Database, Databases, Queries } from '../database.ts'
import { nextDueTime } from '../due-sessions.ts'
import type { PostgresDatabase } from '../postgres.ts'
import { tenantDatabaseStore } from './tenant-databases.ts'
import { databaseWalks } from './database-walks.ts'
import { createWeakValues } from './weak-values.ts'

export type SchemaPerTenantOptions = {
  control: Database
  /** The Postgres database of `control`. */
  postgres: PostgresDatabase
  clock: Clock
  log: Log
  /** Wraps a tenant's database for callers. */
  observe?: (database: Database) => Database
}

/** Milliseconds: a process that writes to a schema announces it at least once in this time. */
const wakeMs = 10_000
/** Milliseconds: nobody writes to a schema without an announcement for this long. A multiple, because clocks differ. */
const restMs = 3 * wakeMs
/** Milliseconds until a schema that failed to open is tried again. */
const asideMs = 30_000

/** Milliseconds without use after which an entry need not stay. */
const idleMs = 10 * 60_000

type SchemaPreparation = (database: Database) => Promise<void>

type SchemaEntry = {
  readonly tenant: string
  readonly database: Database
  opening: SharedRun<void>
  aside: { error: WorkspaceDatabaseError; until: number } | undefined
  wokenAt: number
  isForgotten: boolean
  prepared: number
}

const unopened = (tenant: string): Omit<SchemaEntry, 'database' | 'opening'> => ({
  tenant,
  aside: undefined,
  wokenAt: -Infinity,
  isForgotten: false,
  prepared: 0,
})

const mayPass = (error: unknown): boolean =>
  error instanceof StorageError || error instanceof NoWorkspaceError

/** Only ids become names of schemas. A name has at most 63 characters. */
const safeId = /^[A-Za-z0-9_-]{1,61}$/

export function schemaNameOf(tenant: string): string {
  if (!safeId.test(tenant)) throw new Error(`${tenant} cannot be the name of a schema`)
  return `t_${tenant}`
}

/** Holds entries for `idleMs` after their last use: another entry of the schema would check its tables again. */
function recentEntries(clock: Clock) {
  const usedAt = new Map<SchemaEntry, number>()
  return {
    touch: (entry: SchemaEntry): void => void usedAt.set(entry, clock.now()),
    dropIdle(this: void): void {
      const since = clock.now() - idleMs
      for (const [entry, at] of usedAt) if (at < since) usedAt.delete(entry)
    },
  }
}

function entriesOf({
  control,
  postgres,
  clock,
  log,
  observe = (database) => database,
}: SchemaPerTenantOptions) {
  const entries = createWeakValues<SchemaEntry>()
  const recent = recentEntries(clock)
  const preparations: SchemaPreparation[] = []

  function entryOf(tenant: string): SchemaEntry {
    const entry = entries.get(tenant) ?? newEntry(tenant)
    recent.touch(entry)
    return entry
  }

  function newEntry(tenant: string): SchemaEntry {
    const own = postgres.schema(schemaNameOf(tenant)).database
    const written = async <T>(write: () => Promise<T>): Promise<T> => {
      await ready(entry)
      await wake(entry)
      return write()
    }
    const entry: SchemaEntry = {
      ...unopened(tenant),
      opening: runOnce(() =>
        begin(entry).catch((error: unknown) => {
          throw mayPass(error) ? error : setAside(entry, error)
        }),
      ),
      database: observe({
        ...own,
        write: (unit) => written(() => own.write(unit)),
        writeStatement: (statement) => written(() => own.writeStatement(statement)),
        close: async () => {},
      }),
    }
    entries.set(tenant, entry)
    return entry
  }

  /** Brings the schema up to date once in a process. */
  async function ready(entry: SchemaEntry): Promise<void> {
    if (entry.isForgotten) throw new NoWorkspaceError(entry.tenant)
    if (entry.aside && entry.aside.until > clock.now()) throw entry.aside.error
    await entry.opening()
  }

  async function begin(entry: SchemaEntry): Promise<void> {
    const { tenant } = entry
    const rows = tenantDatabaseStore(control.read)
    const isKnown = await rows.isKnown(tenant)
    if (!isKnown && !(await rows.isWorkspace(tenant))) throw new NoWorkspaceError(tenant)
    const schema = postgres.schema(schemaNameOf(tenant))
    if (isKnown && !(await schema.isThere()))
      throw new Error(`the schema of the database of ${tenant} is not there`)
    await schema.migrate()
    if (!isKnown)
      await runUnaudited(() =>
        control.write((tx) => tenantDatabaseStore(tx).add(tenant, clock.now())),
      )
    await prepare(entry)
    entry.aside = undefined
  }

  async function prepare(entry: SchemaEntry): Promise<void> {
    const own = postgres.schema(schemaNameOf(entry.tenant)).database
    for (; entry.prepared < preparations.length; entry.prepared++)
      await preparations[entry.prepared]?.(own)
  }

  function setAside(entry: SchemaEntry, cause: unknown): WorkspaceDatabaseError {
    log.error('the database of a workspace is set aside', { tenant: entry.tenant, error: cause })
    const error = new WorkspaceDatabaseError(cause as Error)
    entry.aside = { error, until: clock.now() + asideMs }
    return error
  }

  async function wake(entry: SchemaEntry): Promise<void> {
    const now = clock.now()
    if (now - entry.wokenAt < wakeMs) return
    // The calling request has its audit line in the tenant's own unit.
    await runUnaudited(() => control.write((tx) => tenantDatabaseStore(tx).wake(entry.tenant, now)))
    entry.wokenAt = now
  }

  /** When a job has to look at the schema. Rejects for a schema that cannot be read, and logs why. */
  async function readDueTime(entry: SchemaEntry): Promise<number | undefined> {
    await ready(entry)
    try {
      return await nextDueTime(entry.database)
    } catch (error) {
      if (error instanceof StorageError) throw error
      // A process was killed between the removal of the schema and that of its row.
      entry.opening.forget()
      throw setAside(entry, error)
    }
  }

  return {
    entryOf,
    hold: entries.hold,
    ready,
    readDueTime,
    dropIdle: recent.dropIdle,
    prepareAll: async (work: SchemaPreparation): Promise<void> => {
      preparations.push(work)
      for (const entry of entries.all()) if (entry.opening.current()) await prepare(entry)
    },
  }
}

export function schemaPerTenant(options: SchemaPerTenantOptions): Databases {
  const { control, postgres, clock } = options
  const { entryOf, hold, ready, readDueTime, dropIdle, prepareAll } = entriesOf(options)

  /** The tenants with due work. A schema without due work is recorded as idle. */
  async function dueTenants(aheadMs = 0): Promise<string[]> {
    dropIdle()
    const now = clock.now()
    const tenants: string[] = []
    for (const { tenant_id, woken_ms } of await tenantDatabaseStore(control.read).due(
      now + aheadMs,
    ))
      if (woken_ms >= now - restMs || (await isDue(tenant_id, { now, aheadMs })))
        tenants.push(tenant_id)
    return tenants
  }

  async function isDue(
    tenant: string,
    { now, aheadMs }: { now: number; aheadMs: number },
  ): Promise<boolean> {
    let due: number | undefined
    try {
      due = await readDueTime(entryOf(tenant))
    } catch {
      return false
    }
    if (due !== undefined && due <= now + aheadMs) return true
    await control.write((tx) =>
      tenantDatabaseStore(tx).settle(tenant, { due, wokenBefore: now - restMs }),
    )
    return false
  }

  return {
    control,
    isShared: false,
    async open(tenant) {
      const entry = entryOf(tenant)
      await ready(entry)
      return entry.database
    },
    ...databaseWalks({
      control,
      databaseOf: (tenant) => entryOf(tenant).database,
      reach: (tenant) => ready(entryOf(tenant)),
      dueTenants,
    }),
    async forget(tenant) {
      const entry = entryOf(tenant)
      entry.isForgotten = true
      await hold(entry, async () => {
        await postgres.schema(schemaNameOf(tenant)).drop()
        await control.write((tx: Queries) => tenantDatabaseStore(tx).remove(tenant))
      })
    },
    prepare: prepareAll,
    close: () => control.close(),
  }
}
