import type { MemoryActor } from '@steward/protocol/memory-stores.ts'
import {
  MemoryCreate,
  MemoryDeleteQuery,
  MemoryListQuery,
  MemoryPrefix,
  MemoryShown,
  MemoryStoreCreate,
  MemoryStoreListQuery,
  MemoryStoreShown,
  MemoryStoreUpdate,
  MemoryUpdate,
  MemoryVersionListQuery,
  MemoryVersionShown,
  MemoryViewQuery,
} from '@steward/protocol/memory-stores.ts'
import { Deleted, ListOf } from '@steward/protocol/primitives.ts'
import { z } from 'zod'
import { invalid } from '../../ground/core/errors.ts'
import { newId } from '../../ground/core/ids.ts'
import { mergeMetadata } from '../../ground/core/metadata.ts'
import { pageOf, paging } from '../../ground/core/page.ts'
import type { Clock } from '@steward/base/time.ts'
import { iso } from '@steward/base/time.ts'
import type { Queries } from '../../ground/database/database.ts'
import { moments } from '../../ground/database/seek.ts'
import type { ClaimPrincipal } from '../../ground/http/principal.ts'
import type { RouteCall, Route } from '../../ground/http/route.ts'
import { route } from '../../ground/http/route.ts'
import { outbox } from '../../tenants/webhooks/outbox.ts'
import { listMemories } from './list.ts'
import { memoryRows, showMemory } from './memories.ts'
import { removeStore } from './remove.ts'
import type { StoreRow } from './store.ts'
import { memoryStoreStore, showStore } from './store.ts'
import { showVersion, versionStore } from './versions.ts'
import type { MemoryWriteContext } from './write.ts'
import { createMemory, deleteMemory, redactVersion, updateMemory } from './write.ts'
import { fromJson, toJson } from '../../ground/core/json-text.ts'

type Deps = {
  clock: Clock
  embeddingModel: string
  /** Within the transaction: throws for a claim that was lost since the request was let in. */
  checkClaim: (tx: Queries, claim: ClaimPrincipal, now: number) => Promise<void>
}
type Anyone = Pick<
  RouteCall<string, unknown, unknown>,
  'db' | 'tenant' | 'principal' | 'betas' | 'dialect'
>

const callers = ['workspace'] as const
const withClaim = ['workspace', 'claim'] as const
const section = 'Memory stores'
const own = 'agent-memory-2026-07-22'
const broad = 'managed-agents-2026-04-01'

/** The memory beta; clients of before it send the broad one, which counts in their dialect alone. [memory-stores/beta-header] */
function checkBeta({ betas, dialect }: Anyone): void {
  if (betas.has(own) || (dialect === 'client' && betas.has(broad))) return
  throw invalid(`the header vendor-beta: ${own} is required for memory stores`)
}

const actorOf = ({ principal }: Anyone): MemoryActor =>
  principal.kind === 'claim'
    ? { type: 'session_actor', session_id: principal.sessionId }
    : { type: 'api_actor', api_key_id: 'keyId' in principal ? principal.keyId : '' }

export const memoryStoreRoutes = (deps: Deps): Route[] =>
  [...ofStores(deps), ...ofMemories(deps), ...ofVersions(deps)].map((each) => ({
    ...each,
    run: async (...[call, raw]: Parameters<Route['run']>) => {
      checkBeta(call)
      return each.run(call, raw)
    },
  }))

function ofStores({ clock, embeddingModel }: Deps): Route[] {
  const answer = MemoryStoreShown
  const path = '/v1/memory_stores/:id'
  return [
    route(
      {
        method: 'post',
        path: '/v1/memory_stores',
        callers,
        section,
        summary: 'Create a memory store',
        body: MemoryStoreCreate,
        answer,
      },
      async ({ db, tenant, body }) => {
        const at = iso(clock.now())
        const id = newId('memory_store')
        const row: StoreRow = {
          tenant_id: tenant,
          id,
          name: body.name,
          description: body.description ?? '',
          metadata: toJson(body.metadata ?? {}),
          agent_id: body.agent_id ?? null,
          embedding_model: body.embedding_model ?? embeddingModel,
          vector_index: body.vector_index ?? id,
          memories: 0,
          revision: 0,
          archived_at: null,
          deleted_at: null,
          created_at: at,
          updated_at: at,
        }
        await db.write(async (tx) => {
          await memoryStoreStore(tx).insert(row)
          await outbox(tx).put(tenant, ['memory_store.created'], { id }, clock.now())
        })
        return showStore(row)
      },
    ),
    route(
      {
        method: 'get',
        path: '/v1/memory_stores',
        callers,
        section,
        summary: 'List memory stores',
        query: MemoryStoreListQuery,
        answer: ListOf(answer),
      },
      async ({ db, tenant, query }) => {
        const page = paging('memory_stores', query)
        const rows = await memoryStoreStore(db.read).list(tenant, {
          paging: page,
          archived: query.include_archived ?? false,
          made: moments(query),
        })
        return pageOf('memory_stores', page, rows, showStore)
      },
    ),
    route(
      { method: 'get', path, callers, section, summary: 'Get a memory store', answer },
      async ({ db, tenant, params }) =>
        showStore(await memoryStoreStore(db.read).row(tenant, params.id)),
    ),
    route(
      {
        method: 'post',
        path,
        callers,
        section,
        summary: 'Update a memory store',
        body: MemoryStoreUpdate,
        answer,
      },
      async ({ db, tenant, params: { id }, body }) =>
        db.write(async (tx) => {
          const store = memoryStoreStore(tx)
          const kept = await store.open(tenant, id)
          const metadata = fromJson(kept.metadata)
          const columns = {
            name: body.name ?? kept.name,
            description: body.description ?? kept.description,
            metadata: toJson(mergeMetadata(metadata, body.metadata ?? {})),
          }
          await store.update(tenant, id, columns, clock.now())
          return showStore(await store.row(tenant, id))
        }),
    ),
    route(
      {
        method: 'post',
        path: `${path}/archive`,
        callers,
        section,
        summary: 'Archive a memory store',
        description: 'From then on it is read only.',
        answer,
      },
      async ({ db, tenant, params: { id } }) =>
        db.write(async (tx) => {
          const store = memoryStoreStore(tx)
          const kept = await store.take(tenant, id)
          const now = clock.now()
          if (kept.archived_at === null) {
            await store.update(tenant, id, { archived_at: iso(now) }, now)
            await outbox(tx).put(tenant, ['memory_store.archived'], { id }, now)
          }
          return showStore(await store.row(tenant, id))
        }),
    ),
    route(
      {
        method: 'delete',
        path,
        callers,
        section,
        summary: 'Delete a memory store, its memories and their versions',
        answer: Deleted('memory_store_deleted'),
      },
      async ({ db, tenant, params: { id } }) => {
        await removeStore(db, { tenant, id, now: clock.now() })
        return { id, type: 'memory_store_deleted' }
      },
    ),
  ]
}

/** Runs in one transaction in the caller's name. */
const writes =
  ({ clock, checkClaim }: Deps) =>
  <T>(
    call: Anyone,
    store: string,
    unit: (writing: MemoryWriteContext) => Promise<T>,
  ): Promise<T> => {
    const { db, tenant, principal } = call
    const actor = actorOf(call)
    return db.write(async (tx) => {
      const now = clock.now()
      if (principal.kind === 'claim') await checkClaim(tx, principal, now)
      return unit({ tx, tenant, store, actor, now })
    })
  }

function ofMemories(deps: Deps): Route[] {
  const writing = writes(deps)
  const answer = MemoryShown
  const path = '/v1/memory_stores/:id/memories' as const
  return [
    route(
      {
        method: 'post',
        path,
        callers: withClaim,
        claim: 'store write',
        section,
        summary: 'Create a memory',
        description: 'A memory that is there already is not overwritten.',
        query: MemoryViewQuery,
        body: MemoryCreate,
        answer,
      },
      async ({ params, query, body, ...who }) => {
        const row = await writing(who, params.id, (at) => createMemory(at, body))
        return showMemory(row, query.view)
      },
    ),
    route(
      {
        method: 'get',
        path,
        callers: withClaim,
        claim: 'store',
        section,
        summary: 'List memories',
        description: 'With depth 1, what lies directly below a prefix.',
        query: MemoryListQuery,
        answer: ListOf(z.union([MemoryShown, MemoryPrefix])),
      },
      async ({ db, tenant, params: { id: store }, query }) => {
        const { read } = db
        await memoryStoreStore(read).row(tenant, store)
        return listMemories({ db: read, tenant, store }, query)
      },
    ),
    route(
      {
        method: 'get',
        path: `${path}/:memory_id`,
        callers: withClaim,
        claim: 'store',
        section,
        summary: 'Get a memory',
        query: MemoryViewQuery,
        answer,
      },
      async ({ db, tenant, params: { id, memory_id }, query }) => {
        const { read } = db
        await memoryStoreStore(read).row(tenant, id)
        const row = await memoryRows(read).row(tenant, id, memory_id)
        return showMemory(row, query.view)
      },
    ),
    route(
      {
        method: 'post',
        path: `${path}/:memory_id`,
        callers: withClaim,
        claim: 'store write',
        section,
        summary: 'Update a memory',
        query: MemoryViewQuery,
        body: MemoryUpdate,
        answer,
      },
      async ({ params: { id, memory_id }, query, body, ...who }) => {
        const row = await writing(who, id, (at) => updateMemory(at, memory_id, body))
        return showMemory(row, query.view)
      },
    ),
    route(
      {
        method: 'delete',
        path: `${path}/:memory_id`,
        callers: withClaim,
        claim: 'store write',
        section,
        summary: 'Delete a memory',
        description: 'Its versions stay.',
        query: MemoryDeleteQuery,
        answer: Deleted('memory_deleted'),
      },
      async ({ params: { id, memory_id }, query, ...who }) => {
        await writing(who, id, (at) => deleteMemory(at, memory_id, query.expected_content_sha256))
        return { id: memory_id, type: 'memory_deleted' }
      },
    ),
  ]
}

function ofVersions(deps: Deps): Route[] {
  const writing = writes(deps)
  const answer = MemoryVersionShown
  const path = '/v1/memory_stores/:id/memory_versions' as const
  return [
    route(
      {
        method: 'get',
        path,
        callers,
        section,
        summary: 'List the versions of memories',
        description: 'Each says who changed what.',
        query: MemoryVersionListQuery,
        answer: ListOf(answer),
      },
      async ({ db, tenant, params: { id }, query }) => {
        const { read } = db
        await memoryStoreStore(read).row(tenant, id)
        const scope = `memory_versions/${id}`
        const page = paging(scope, query)
        // Nobody has such an account here.
        const rows = query.service_account_id
          ? { rows: [], more: false }
          : await versionStore(read).list(tenant, id, {
              paging: page,
              filter: query,
              made: moments(query),
              view: query.view,
            })
        return pageOf(scope, page, rows, (row) => showVersion(row, query.view))
      },
    ),
    route(
      {
        method: 'get',
        path: `${path}/:version_id`,
        callers,
        section,
        summary: 'Get a version',
        query: MemoryViewQuery,
        answer,
      },
      async ({ db, tenant, params: { id, version_id }, query }) => {
        const { read } = db
        await memoryStoreStore(read).row(tenant, id)
        return showVersion(await versionStore(read).row(tenant, id, version_id), query.view)
      },
    ),
    route(
      {
        method: 'post',
        path: `${path}/:version_id/redact`,
        callers,
        section,
        summary: 'Redact a version of a memory',
        description: 'Removes its content and keeps its place.',
        answer,
      },
      async ({ params: { id, version_id }, ...who }) =>
        showVersion(await writing(who, id, (at) => redactVersion(at, version_id)), 'full'),
    ),
  ]
}
