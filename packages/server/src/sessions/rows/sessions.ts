import type { Session, SessionAgent } from '@steward/protocol/sessions.ts'
import { sql } from 'kysely'
import { invalid, notFound } from '../../ground/core/errors.ts'
import type { Listing, Paging } from '../../ground/core/text/page.ts'
import { mapListing } from '../../ground/core/text/page.ts'
import { iso } from '@steward/base/time.ts'
import { releasedLease } from '../../ground/database/lease.ts'
import type { Queries, Reads } from '../../ground/database/database.ts'
import { defineStore } from '../../ground/database/store-of.ts'
import { readPage, rowWeight } from '../../ground/database/listing.ts'
import { forUpdate } from '../../ground/database/lock.ts'
import type { SlotFor } from '../../ground/database/statement.ts'
import { insertRows, selectStatement, statement } from '../../ground/database/statement.ts'
import type { Tables } from '../../ground/database/tables.ts'
import type { HeadStatus } from '../../ground/database/tables/sessions.ts'
import type { Head } from '../log/head.ts'
import { headFields, findHead, wholeMinute } from '../log/head.ts'
import { outcomeStage } from '../log/outcome-stage.ts'
import { threadSums, withoutThreadSums } from './threads.ts'
import { putMetadata, removeMetadata } from './metadata.ts'
import { newHead } from './new-head.ts'
import { outcomeStore } from './outcomes.ts'
import { resourceStore } from './resources.ts'
import type { SessionRow, ShownSessionRow } from './show-session.ts'
import type { SessionFilter } from './filters.ts'
import { isFound } from './filters.ts'
import { showSession } from './show-session.ts'

export type { SessionRow, ShownSessionRow }
import type { CreatorColumns } from '../../ground/core/creator.ts'
import { creatorColumns } from '../../ground/core/creator.ts'
import { fromJson } from '../../ground/core/text/json-text.ts'
import { isWorkspaceHeld, unless } from '../../ground/database/holds.ts'

/** The context that a session's inline token is sealed for. */
export const tokenContext = (tenant: string, session: string, server: string): string =>
  `${tenant}/sessions/${session}/sealed_tokens/${server}`

/** Estimated bytes of a resource: only a memory store has a long row, and a session attaches at most eight. */
const resourceBytes = 2048

/** Estimated bytes of a session with its resources; an index counts the resources. */
const sessionWeight = sql<number>`${rowWeight('agent', 'roster', 'title', 'metadata', 'vault_ids')} + ${sql.lit(resourceBytes)} *
  cast((select count(*) from session_resources as resource
    where resource.tenant_id = sessions.tenant_id and resource.session_id = sessions.id) as integer)
  + case when head.outcome = 0 then 0 else cast((select coalesce(sum(length(description)
    + coalesce(length(explanation), 0)), 0) from outcomes where outcomes.tenant_id = sessions.tenant_id
    and outcomes.session_id = sessions.id) as integer) end`

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
  'allowances',
  'outputs_path',
  'archived_at',
  'deleted_at',
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof SessionRow)[]

type SessionKey = { tenant: string; id: string }

/** Rows of sessions that are not deleted. */
const oneOf = (db: Reads, slot: SlotFor<SessionKey>) =>
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

const rowStatement = selectStatement((db, slot: SlotFor<SessionKey>) =>
  oneOf(db, slot).select(columns),
)

const shownColumns = ['roster', 'deployment_id', 'forked_from', ...creatorColumns] as const
const shownStatement = selectStatement((db, slot: SlotFor<SessionKey>) =>
  oneOf(db, slot).select([...columns, ...shownColumns, ...threadSums]),
)

/** A session as a turn reads it. */
export type TurnSessionRow = SessionRow & CreatorColumns

/** The columns of session and environment that a turn needs. */
const turnStatement = selectStatement((db, slot: SlotFor<SessionKey>) =>
  oneOf(db, slot)
    .innerJoin('environments as environment', (join) =>
      join
        .onRef('environment.tenant_id', '=', 'sessions.tenant_id')
        .onRef('environment.id', '=', 'sessions.environment_id'),
    )
    .select([...columns, ...creatorColumns].map((name) => `sessions.${name}` as const))
    .select('environment.record')
    .select(
      sql<boolean | number>`exists (select 1 from session_resources as resource
        where resource.tenant_id = sessions.tenant_id and resource.session_id = sessions.id)`.as(
        'has_resources',
      ),
    ),
)

/** Locks the row until the transaction ends. */
const getForUpdateStatement = statement((tx, slot: SlotFor<SessionKey>) =>
  forUpdate(tx, oneOf(tx, slot).select(columns)),
)

const getForUpdate = async (tx: Queries, tenant: string, id: string): Promise<SessionRow> =>
  found(id, (await getForUpdateStatement(tx, { tenant, id }))[0])

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

/** Outcomes of these sessions. Makes no query when none of them ever had an outcome. */
const outcomesOf = (
  db: Reads,
  tenant: string,
  sessions: readonly { id: string; outcome: number }[],
) =>
  outcomeStore(db).ofSessions(
    tenant,
    sessions.flatMap(({ id, outcome }) => (outcome === outcomeStage.none ? [] : id)),
  )

function sessionReads(db: Reads) {
  const row = async (tenant: string, id: string): Promise<SessionRow> =>
    found(id, (await rowStatement(db, { tenant, id }))[0])
  const readRow = async (tenant: string, id: string) =>
    found(id, (await shownStatement(db, { tenant, id }))[0])
  const shownRow = async (tenant: string, id: string): Promise<ShownSessionRow> =>
    withoutThreadSums(await readRow(tenant, id))
  return {
    /** Throws not_found when the session is absent, deleted, or of another tenant. */
    row,
    shownRow,
    /** The agents that the session's agent may start. Makes no query for an agent that starts none. */
    async roster(tenant: string, id: string, { multiagent }: SessionAgent) {
      return multiagent ? (await shownRow(tenant, id)).roster : null
    },
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
      const session = await readRow(tenant, id)
      const head = found(id, await findHead(db, tenant, id))
      const resources = await resourceStore(db).ofSession(tenant, id)
      const outcomes = await outcomesOf(db, tenant, [{ id, outcome: head.outcome }])
      return showSession(session, head, { now, resources, outcomes: outcomes.get(id) })
    },

    async list(
      tenant: string,
      paging: Paging,
      filter: SessionFilter,
      now: number,
    ): Promise<Listing<Session>> {
      const rows = db
        .selectFrom('sessions')
        .innerJoin('session_heads as head', 'head.session_id', 'sessions.id')
        .selectAll('sessions')
        .select(threadSums)
        .select(headFields.map((name) => `head.${name}` as const))
        .where('sessions.tenant_id', '=', tenant)
        .where('deleted_at', 'is', null)
        .where(isFound(db, tenant, filter, now))
      const read = await readPage(tenant, rows, paging, sessionWeight)
      const resources = await resourceStore(db).ofSessions(
        tenant,
        read.rows.map(({ id }) => id),
      )
      const outcomes = await outcomesOf(db, tenant, read.rows)
      return mapListing(read, (each) => {
        const beside = { resources: resources.get(each.id), outcomes: outcomes.get(each.id) }
        return showSession(each, each, { now, ...beside })
      })
    },

    /** Sessions of all tenants that were deleted before `before` and have no work left for a runner or a worker. */
    deletedBefore: (before: string, limit: number): Promise<{ tenant_id: string; id: string }[]> =>
      db
        .selectFrom('sessions')
        .innerJoin('session_heads as head', 'head.session_id', 'sessions.id')
        .select(['sessions.tenant_id', 'sessions.id'])
        .where('deleted_at', '<', before)
        .where(unless(isWorkspaceHeld('sessions.tenant_id')))
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

    /** The oldest sessions that are not deleted yet. */
    async undeleted(tenant: string, limit: number): Promise<string[]> {
      const rows = await db
        .selectFrom('sessions')
        .select('id')
        .where('tenant_id', '=', tenant)
        .where('deleted_at', 'is', null)
        .orderBy('created_at')
        .orderBy('id')
        .limit(limit)
        .execute()
      return rows.map(({ id }) => id)
    },

    /** Any sessions of the tenant, deleted ones too. */
    async some(tenant: string, limit: number): Promise<string[]> {
      const rows = await db
        .selectFrom('sessions')
        .select('id')
        .where('tenant_id', '=', tenant)
        .limit(limit)
        .execute()
      return rows.map(({ id }) => id)
    },

    /** True when a runner has work with a session of the tenant, or holds one. */
    async areUnsettled(tenant: string): Promise<boolean> {
      const heads = db
        .selectFrom('session_heads')
        .select('session_id')
        .where('tenant_id', '=', tenant)
      const due = await heads.where('due', '=', sql.lit(1)).limit(1).execute()
      if (due.length > 0) return true
      const held = await heads.where('owner', 'is not', null).limit(1).execute()
      return held.length > 0
    },

    /** The rows of these sessions of any tenant. */
    ofAnyTenant: (ids: readonly string[]) =>
      db
        .selectFrom('session_heads as head')
        .innerJoin('sessions', (join) =>
          join
            .onRef('sessions.tenant_id', '=', 'head.tenant_id')
            .onRef('sessions.id', '=', 'head.session_id'),
        )
        .select(['sessions.id', 'sessions.tenant_id', 'sessions.deleted_at'])
        .where('head.session_id', 'in', ids)
        .execute(),
  }
}

function sessionWrites(db: Queries) {
  return {
    /** Like `row`, and locks the row until the transaction ends. */
    getForUpdate: (tenant: string, id: string) => getForUpdate(db, tenant, id),

    /** Like `getForUpdate`. Throws when the session is archived. */
    async getOpenForUpdate(tenant: string, id: string): Promise<SessionRow> {
      const session = await getForUpdate(db, tenant, id)
      if (session.archived_at) throw invalid(`session ${id} is archived and cannot be changed`)
      return session
    },

    /** Returns the head. `of`: columns of the head about MCP servers, the budget, and the number of events. */
    async insert(
      session: ShownSessionRow,
      status: HeadStatus,
      of: Pick<Tables['session_heads'], 'stdio_ms' | 'url_servers' | 'budget'> &
        Partial<Pick<Tables['session_heads'], 'next_seq' | 'turns' | 'threads'>>,
    ): Promise<Head> {
      const changed_ms = wholeMinute(Date.parse(session.created_at))
      const head = { ...newHead, changed_ms, status, ...of }
      const ref = { tenant_id: session.tenant_id, session_id: session.id }
      await insertRows(db, 'sessions', [session])
      await insertRows(db, 'session_heads', [{ ...ref, ...head }])
      await putMetadata(db, ref, fromJson(session.metadata))
      return head
    },

    async update(tenant: string, id: string, set: Partial<SessionRow>, now: number): Promise<void> {
      await change(db, tenant, id, set, now)
      if (set.metadata === undefined) return
      const ref = { tenant_id: tenant, session_id: id }
      await removeMetadata(db, ref)
      await putMetadata(db, ref, fromJson(set.metadata))
    },
    archive: (tenant: string, id: string, now: number) =>
      change(db, tenant, id, { archived_at: iso(now) }, now),
    /** From now on every read treats the session as absent. The row stays until `forget`. */
    async remove(tenant: string, id: string, now: number): Promise<void> {
      await change(db, tenant, id, { deleted_at: iso(now) }, now)
      await removeMetadata(db, { tenant_id: tenant, session_id: id })
    },

    /**
     * Deletes a session of a deleted workspace in any state. A process that runs it can write nothing more; a runner
     * removes its folder.
     */
    async end(tenant: string, id: string, now: number): Promise<void> {
      await change(db, tenant, id, { deleted_at: iso(now) }, now)
      const head = { tenant_id: tenant, session_id: id }
      await db
        .deleteFrom('inbox')
        .where((eb) => eb.and(head))
        .execute()
      await db
        .updateTable('session_heads')
        .set((eb) => ({
          status: 'deleted',
          due: 1,
          ...releasedLease,
          previous_owner: null,
          generation: eb('generation', '+', 1),
        }))
        .where((eb) => eb.and(head))
        .execute()
    },

    /** A deleted session that still has its rows. Locks them until the transaction ends. */
    findDeletedForUpdate: (tenant: string, id: string) =>
      forUpdate(
        db,
        db
          .selectFrom('sessions')
          .innerJoin('session_heads', 'session_heads.session_id', 'sessions.id')
          .select(['sessions.created_at', 'sessions.deleted_at', 'session_heads.next_seq'])
          .where('sessions.tenant_id', '=', tenant)
          .where('sessions.id', '=', id)
          .where('deleted_at', 'is not', null),
      ).executeTakeFirst(),

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
export const sessionStore = defineStore(sessionReads, sessionWrites)
