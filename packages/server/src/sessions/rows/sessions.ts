import type { Session, SessionStatus } from '@steward/protocol/sessions.ts'
import { sql } from 'kysely'
import { invalid, notFound } from '../../ground/core/errors.ts'
import type { Listing, Paging } from '../../ground/core/page.ts'
import { listingOf } from '../../ground/core/page.ts'
import { iso } from '@steward/base/time.ts'
import type { Queries, Reads } from '../../ground/database/database.ts'
import { storeOf } from '../../ground/database/store-of.ts'
import { readPage, weightOf } from '../../ground/database/listing.ts'
import { taking } from '../../ground/database/lock.ts'
import type { Moment } from '../../ground/database/seek.ts'
import type { SlotFor } from '../../ground/database/statement.ts'
import { insertRows, selection, statement } from '../../ground/database/statement.ts'
import type { HeadStatus, Tables } from '../../ground/database/tables.ts'
import type { Head } from '../log/head.ts'
import { budgetOf, headFields, noSpending, readHead, usageOf } from '../log/head.ts'
import type { ResourceRow } from './resources.ts'
import { resourceStore, showResource } from './resources.ts'
import { fromJson } from '../../ground/core/json-text.ts'

export type SessionRow = Tables['sessions']

/** The place that a session's inline token is sealed for. */
export const tokenPlace = (tenant: string, session: string, server: string): string =>
  `${tenant}/sessions/${session}/sealed_tokens/${server}`

export type SessionFilter = {
  agentId?: string | undefined
  agentVersion?: number | undefined
  memoryStoreId?: string | undefined
  statuses?: HeadStatus[] | undefined
  archived: boolean
  made: Moment[]
}

const newHead = {
  next_seq: 0,
  next_position: 0,
  inbox_bytes: 0,
  stop_reason: null,
  due: 0,
  owner: null,
  previous_owner: null,
  generation: 0,
  expires_at: 0,
  recoveries: 0,
  running_since_ms: null,
  active_ms: 0,
  idle_since_ms: null,
  input_tokens: 0,
  output_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
  awaits_stdio: 0,
  ...noSpending,
}

/** Estimated bytes of a resource: only a memory store has a long row, and a session attaches at most eight. */
const resourceBytes = 2048

/** Estimated bytes of a session with its resources; an index counts the resources. */
const sessionWeight = sql<number>`${weightOf('agent', 'title', 'metadata', 'vault_ids')} + ${sql.lit(resourceBytes)} *
  cast((select count(*) from session_resources as resource
    where resource.tenant_id = sessions.tenant_id and resource.session_id = sessions.id) as integer)`

const columns = [
  'tenant_id',
  'id',
  'agent_id',
  'agent_version',
  'agent',
  'environment_id',
  'self_hosted',
  'title',
  'metadata',
  'vault_ids',
  'sealed_tokens',
  'files_revision',
  'archived_at',
  'deleted_at',
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof SessionRow)[]

type Key = { tenant: string; id: string }

/** Rows of sessions that are not deleted. */
const oneOf = (db: Reads, slot: SlotFor<Key>) =>
  db
    .selectFrom('sessions')
    .where(
      'sessions.tenant_id',
      '=',
      slot(({ tenant }) => tenant),
    )
    .where(
      'sessions.id',
      '=',
      slot(({ id }) => id),
    )
    .where('deleted_at', 'is', null)

const rowStatement = selection((db, slot: SlotFor<Key>) => oneOf(db, slot).select(columns))

/** Whatever a turn needs of its session and of the session's environment. */
const turnStatement = selection((db, slot: SlotFor<Key>) =>
  oneOf(db, slot)
    .innerJoin('environments as environment', (join) =>
      join
        .onRef('environment.tenant_id', '=', 'sessions.tenant_id')
        .onRef('environment.id', '=', 'sessions.environment_id'),
    )
    .select(columns.map((name) => `sessions.${name}` as const))
    .select('environment.record')
    .select(
      sql<boolean | number>`exists (select 1 from session_resources as resource
        where resource.tenant_id = sessions.tenant_id and resource.session_id = sessions.id)`.as(
        'has_resources',
      ),
    ),
)

/** Nobody else changes the row until the transaction ends. */
const takeStatement = statement((tx, slot: SlotFor<Key>) =>
  taking(tx, oneOf(tx, slot).select(columns)),
)

const take = async (tx: Queries, tenant: string, id: string): Promise<SessionRow> =>
  found(id, (await takeStatement(tx, { tenant, id }))[0])

function found<Row>(id: string, row: Row | undefined): Row {
  if (!row) throw notFound('session', id)
  return row
}

const change = async (
  db: Queries,
  tenant: string,
  id: string,
  set: Partial<SessionRow>,
  now: number,
) => {
  await db
    .updateTable('sessions')
    .set({ ...set, updated_at: iso(now) })
    .where('tenant_id', '=', tenant)
    .where('id', '=', id)
    .execute()
}

function sessionReads(db: Reads) {
  const row = async (tenant: string, id: string): Promise<SessionRow> =>
    found(id, (await rowStatement(db, { tenant, id }))[0])
  return {
    /** Throws not_found when the session is absent, deleted, or of another tenant. */
    row,
    /** The session, its environment's record, and whether it has resources. Throws as `row` does. */
    async forTurn(tenant: string, id: string) {
      const [first] = await turnStatement(db, { tenant, id })
      const { record, has_resources, ...session } = found(id, first)
      return { session, environment: fromJson(record), hasResources: Boolean(has_resources) }
    },
    /** Changes whenever a file is added to the session or removed from it. Undefined once the session is deleted. */
    async filesRevision(tenant: string, id: string): Promise<number | undefined> {
      const revision = db
        .selectFrom('sessions')
        .select('files_revision')
        .where('tenant_id', '=', tenant)
        .where('id', '=', id)
        .where('deleted_at', 'is', null)
      return (await revision.executeTakeFirst())?.files_revision
    },

    async get(tenant: string, id: string, now: number): Promise<Session> {
      const session = await row(tenant, id)
      const head = await readHead(db, tenant, id)
      const resources = await resourceStore(db).ofSession(tenant, id)
      return showSession(session, head, { now, resources })
    },

    async list(
      tenant: string,
      paging: Paging,
      filter: SessionFilter,
      now: number,
    ): Promise<Listing<Session>> {
      let rows = db
        .selectFrom('sessions')
        .innerJoin('session_heads as head', 'head.session_id', 'sessions.id')
        .selectAll('sessions')
        .select(headFields.map((name) => `head.${name}` as const))
        .where('sessions.tenant_id', '=', tenant)
        .where('deleted_at', 'is', null)
      if (!filter.archived) rows = rows.where('archived_at', 'is', null)
      if (filter.agentId) rows = rows.where('agent_id', '=', filter.agentId)
      if (filter.agentVersion) rows = rows.where('agent_version', '=', filter.agentVersion)
      const { memoryStoreId } = filter
      if (memoryStoreId)
        rows = rows.where('sessions.id', 'in', (eb) =>
          eb
            .selectFrom('session_resources')
            .select('session_id')
            .where('tenant_id', '=', tenant)
            .where('type', '=', 'memory_store')
            .where('refers_to', '=', memoryStoreId),
        )
      if (filter.statuses) rows = rows.where('head.status', 'in', filter.statuses)
      for (const { op, at } of filter.made) rows = rows.where('created_at', op, at)
      const read = await readPage(tenant, rows, paging, sessionWeight)
      const resources = await resourceStore(db).ofSessions(
        tenant,
        read.rows.map(({ id }) => id),
      )
      return listingOf(read, (each) =>
        showSession(each, each, { now, resources: resources.get(each.id) }),
      )
    },

    /** Of all tenants: sessions deleted before `before`, with no work left for a runner and no live work item. */
    deletedBefore: (before: string, limit: number): Promise<{ tenant_id: string; id: string }[]> =>
      db
        .selectFrom('sessions')
        .innerJoin('session_heads as head', 'head.session_id', 'sessions.id')
        .select(['sessions.tenant_id', 'sessions.id'])
        .where('deleted_at', '<', before)
        .where('head.due', '=', 0)
        .where('head.owner', 'is', null)
        .where((eb) => {
          const live = eb
            .selectFrom('work')
            .select('work.id')
            .whereRef('work.tenant_id', '=', 'sessions.tenant_id')
            .whereRef('work.session_id', '=', 'sessions.id')
            .where(sql<boolean>`work.state <> 'stopped'`)
          return eb.not(eb.exists(live))
        })
        .orderBy('deleted_at')
        .limit(limit)
        .execute(),

    /** Of all tenants: for each id that has a row, whether the session is deleted. */
    async deletionsOf(ids: readonly string[]): Promise<Map<string, boolean>> {
      const rows = await db
        .selectFrom('session_heads as head')
        .innerJoin('sessions', (join) =>
          join
            .onRef('sessions.tenant_id', '=', 'head.tenant_id')
            .onRef('sessions.id', '=', 'head.session_id'),
        )
        .select(['sessions.id', 'sessions.deleted_at'])
        .where('head.session_id', 'in', ids)
        .execute()
      return new Map(rows.map(({ id, deleted_at }) => [id, deleted_at !== null]))
    },
  }
}

function sessionWrites(db: Queries) {
  return {
    /** Like `row`, and locks the row until the transaction ends. */
    take: (tenant: string, id: string) => take(db, tenant, id),

    /** Like `take`. Throws when the session is archived. */
    async takeOpen(tenant: string, id: string): Promise<SessionRow> {
      const session = await take(db, tenant, id)
      if (session.archived_at) throw invalid(`session ${id} is archived and takes nothing more`)
      return session
    },

    /** Returns the head. `of`: what the head stores about the MCP servers of the agent, and the budget. */
    async insert(
      session: SessionRow,
      status: SessionStatus,
      of: Pick<Tables['session_heads'], 'stdio_ms' | 'url_servers' | 'budget'>,
    ): Promise<Head> {
      const head = { ...newHead, status, ...of }
      const place = { tenant_id: session.tenant_id, session_id: session.id }
      await insertRows(db, 'sessions', [session])
      await insertRows(db, 'session_heads', [{ ...place, ...head }])
      return head
    },

    update: (tenant: string, id: string, set: Partial<SessionRow>, now: number) =>
      change(db, tenant, id, set, now),
    archive: (tenant: string, id: string, now: number) =>
      change(db, tenant, id, { archived_at: iso(now) }, now),
    /** From now on every read treats the session as absent. The row stays until `forget`. */
    remove: (tenant: string, id: string, now: number) =>
      change(db, tenant, id, { deleted_at: iso(now) }, now),

    /** Deletes the last rows of a session; larger rows are deleted before. */
    async forget(tenant: string, id: string): Promise<void> {
      for (const table of ['inbox', 'session_heads'] as const)
        await db
          .deleteFrom(table)
          .where('tenant_id', '=', tenant)
          .where('session_id', '=', id)
          .execute()
      await db.deleteFrom('sessions').where('tenant_id', '=', tenant).where('id', '=', id).execute()
    },
  }
}

/** The rows of sessions. The status is in the head of the session's log; reads show both together. */
export const sessionStore = storeOf(sessionReads, sessionWrites)

export function showSession(
  row: SessionRow,
  head: Head,
  { now, resources = [] }: { now: number; resources?: readonly ResourceRow[] | undefined },
): Session {
  const usage = usageOf(head, now)
  return {
    id: row.id,
    type: 'session',
    agent_id: row.agent_id,
    agent_version: row.agent_version,
    agent: fromJson(row.agent),
    environment_id: row.environment_id,
    status: row.archived_at ? 'done' : (head.status as Session['status']),
    title: row.title,
    metadata: fromJson(row.metadata),
    vault_ids: fromJson(row.vault_ids),
    resources: resources.map(showResource),
    usage,
    stats: {
      active_seconds: usage.active_seconds,
      duration_seconds: (now - Date.parse(row.created_at)) / 1000,
    },
    outcome_evaluations: [],
    budget: budgetOf(head),
    archived_at: row.archived_at,
    created_at: row.created_at,
    updated_at: row.updated_at,
  }
}
