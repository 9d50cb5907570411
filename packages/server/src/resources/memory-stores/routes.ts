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
import { z } from 'zod'
import { ListOf } from '@steward/protocol/primitives.ts'
import { invalid } from '../../ground/core/errors.ts'
import { newId } from '../../ground/core/text/ids.ts'
import { mergeMetadata } from '../../ground/core/text/metadata.ts'
import { iso } from '@steward/base/time.ts'
import type { Database, Queries } from '../../ground/database/database.ts'
import { timeComparisons } from '../../ground/database/page-order.ts'
import type { ClaimPrincipal } from '../../ground/http/principal.ts'
import type { RouteCall, Route } from '../../ground/http/route.ts'
import { section } from '../../ground/http/section.ts'
import type { Ground } from '../../ground/ground.ts'
import type { Limits } from '../../tenants/limits/limits.ts'
import { outbox } from '../../tenants/webhooks/outbox.ts'
import { toMemoryActor } from './actor.ts'
import { listMemories } from './list.ts'
import { memoryRows, showMemory } from './memories.ts'
import { removeStore } from './remove.ts'
import type { StoreRow } from './store.ts'
import { memoryStoreStore, showStore } from './store.ts'
import { showVersion, versionStore } from './versions.ts'
import type { MemoryWriteContext } from './write.ts'
import { createMemory, deleteMemory, redactVersion, updateMemory } from './write.ts'
import { rows } from '../../ground/database/rows.ts'

type MemoryRouteDeps = Ground & {
  embeddingModel: string
  /** Called in the transaction. Throws for a claim that was lost since the request was admitted. */
  checkClaim: (tx: Queries, claim: ClaimPrincipal, now: number) => Promise<void>
  limits: Limits
}
type MemoryCaller = Pick<
  RouteCall<string, unknown, unknown>,
  'db' | 'tenant' | 'principal' | 'betas' | 'dialect'
>

const stores = section('Memory stores', ['workspace'], '/v1/memory_stores')
const memories = section('Memory stores', ['workspace', 'claim'], '/v1/memory_stores/:id/memories')
const versions = section('Memory stores', ['workspace'], '/v1/memory_stores/:id/memory_versions')
const own = 'agent-memory-2026-07-22'
const broad = 'managed-agents-2026-04-01'

/**
 * Requires the memory beta. Older clients send a broader one, which counts only in their dialect.
 * [memory-stores/beta-header]
 */
function checkBeta({ betas, dialect }: MemoryCaller): void {
  if (betas.has(own) || (dialect === 'client' && betas.has(broad))) return
  throw invalid(`the header anthropic-beta: ${own} (or vendor-beta) is required for memory stores`)
}

export const memoryStoreRoutes = (deps: MemoryRouteDeps): Route[] =>
  [...ofStores(deps), ...ofMemories(deps), ...ofVersions(deps)].map((each) => ({
    ...each,
    run: async (...[call, raw]: Parameters<Route['run']>) => {
      checkBeta(call)
      return each.run(call, raw)
    },
  }))

const ofStores = ({ clock, embeddingModel, limits }: MemoryRouteDeps): Route[] =>
  stores.plain(
    { one: 'a memory store', many: 'memory stores', item: '/:id', answer: MemoryStoreShown },
    {
      create: {
        description: 'Attach it to sessions as `read_only` or `read_write`.',
        body: MemoryStoreCreate,
        async run({ db, tenant, body }) {
          const at = iso(clock.now())
          const id = newId('memory_store')
          const row: StoreRow = {
            tenant_id: tenant,
            id,
            name: body.name,
            description: body.description ?? '',
            metadata: body.metadata ?? {},
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
          const checkRoom = await limits.quotas.room(tenant, 'memory_stores')
          await db.write(async (tx) => {
            await checkRoom(tx, 1)
            await rows(tx, 'memory_stores').insert(row)
            await outbox(tx).put(tenant, ['memory_store.created'], { id }, clock.now())
          })
          return showStore(row)
        },
      },
      list: {
        query: MemoryStoreListQuery,
        scope: 'memory_stores',
        rows: ({ db, tenant, query }, page) =>
          rows(db.read, 'memory_stores').list(tenant, page, {
            archived: query.include_archived ?? false,
            made: timeComparisons(query),
          }),
        show: showStore,
      },
      get: {
        run: async ({ db, tenant, params }) =>
          showStore(await rows(db.read, 'memory_stores').get(tenant, params.id)),
      },
      update: {
        description:
          'Changes the name, the description and the metadata. Sessions show the name and the description from when the store was attached.',
        also: [],
        body: MemoryStoreUpdate,
        run: ({ db, tenant, params: { id }, body }) =>
          db.write(async (tx) => {
            const store = memoryStoreStore(tx)
            const kept = await store.open(tenant, id)
            const change = {
              name: body.name ?? kept.name,
              description: body.description ?? kept.description,
              metadata: mergeMetadata(kept.metadata, body.metadata ?? {}),
            }
            return showStore(await store.update(kept, change, clock.now()))
          }),
      },
      archive: {
        description: 'From then on it is read only.',
        run: ({ db, tenant, params: { id } }) =>
          db.write(async (tx) => {
            const store = memoryStoreStore(tx)
            const kept = await rows(tx, 'memory_stores').getForUpdate(tenant, id)
            if (kept.archived_at !== null) return showStore(kept)
            const now = clock.now()
            const row = await store.update(kept, { archived_at: iso(now) }, now)
            await outbox(tx).put(tenant, ['memory_store.archived'], { id }, now)
            return showStore(row)
          }),
      },
      delete: {
        description: 'Sessions that have the store attached lose it, and nobody can bring it back.',
        summary: 'Delete a memory store, its memories and their versions',
        type: 'memory_store_deleted',
        run: ({ db, tenant, params: { id } }) => removeStore(db, { tenant, id, now: clock.now() }),
      },
    },
  )

/** Runs in one transaction, in the caller's name. */
const writes =
  ({ clock, checkClaim, limits }: MemoryRouteDeps) =>
  async <T>(
    call: MemoryCaller,
    store: string,
    unit: (writing: MemoryWriteContext) => Promise<T>,
  ): Promise<T> => {
    const { db, tenant, principal } = call
    const actor = toMemoryActor(call)
    const checkRoom = await limits.quotas.room(tenant, 'stored_bytes')
    return db.write(async (tx) => {
      const now = clock.now()
      if (principal.kind === 'claim') await checkClaim(tx, principal, now)
      return unit({ tx, tenant, store, actor, now, checkRoom })
    })
  }

/** Throws not_found when the store is not the tenant's. */
const checkStore = ({
  db,
  tenant,
  params,
}: {
  db: Database
  tenant: string
  params: { id: string }
}) => rows(db.read, 'memory_stores').get(tenant, params.id)

function ofMemories(deps: MemoryRouteDeps): Route[] {
  const writing = writes(deps)
  const answer = MemoryShown
  return [
    memories.post(
      '',
      {
        claim: 'store write',
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
    memories.get(
      '',
      {
        claim: 'store',
        summary: 'List memories',
        description: 'With depth 1, what lies directly below a prefix.',
        query: MemoryListQuery,
        answer: ListOf(z.union([MemoryShown, MemoryPrefix])),
      },
      async (call) => {
        await checkStore(call)
        const { db, tenant, params, query } = call
        if (call.betas.has(own) && !query.path_prefix.endsWith('/'))
          throw invalid('path_prefix: must begin and end with /')
        return listMemories({ db: db.read, tenant, store: params.id }, query)
      },
    ),
    memories.get(
      '/:memory_id',
      { claim: 'store', summary: 'Get a memory', query: MemoryViewQuery, answer },
      async (call) => {
        await checkStore(call)
        const { db, tenant, params, query } = call
        const row = await memoryRows(db.read).row(tenant, params.id, params.memory_id)
        return showMemory(row, query.view)
      },
    ),
    memories.post(
      '/:memory_id',
      {
        claim: 'store write',
        summary: 'Update a memory',
        description:
          'Changes the path or the content and makes a version. A `precondition` that fails is answered with 409 and changes nothing.',
        query: MemoryViewQuery,
        body: MemoryUpdate,
        answer,
      },
      async ({ params: { id, memory_id }, query, body, ...who }) => {
        const row = await writing(who, id, (at) => updateMemory(at, memory_id, body))
        return showMemory(row, query.view)
      },
    ),
    memories.remove(
      '/:memory_id',
      {
        claim: 'store write',
        summary: 'Delete a memory',
        description: 'Its versions stay.',
        query: MemoryDeleteQuery,
        type: 'memory_deleted',
      },
      ({ params: { id, memory_id }, query, ...who }) =>
        writing(who, id, (at) => deleteMemory(at, memory_id, query.expected_content_sha256)),
    ),
  ]
}

function ofVersions(deps: MemoryRouteDeps): Route[] {
  const writing = writes(deps)
  const answer = MemoryVersionShown
  return [
    versions.list(
      '',
      {
        summary: 'List the versions of memories',
        description: 'Each says who changed what.',
        query: MemoryVersionListQuery,
        answer,
      },
      {
        scope: ({ id }) => `memory_versions/${id}`,
        check: checkStore,
        async rows({ db, tenant, params, query }, page) {
          // Service accounts do not exist here.
          if (query.service_account_id) return { rows: [], more: false }
          const asked = {
            paging: page,
            filter: query,
            made: timeComparisons(query),
            view: query.view,
          }
          return versionStore(db.read).list(tenant, params.id, asked)
        },
        show: (row, { query }) => showVersion(row, query.view),
      },
    ),
    versions.get(
      '/:version_id',
      { summary: 'Get a version', query: MemoryViewQuery, answer },
      async (call) => {
        await checkStore(call)
        const { db, tenant, params, query } = call
        return showVersion(
          await versionStore(db.read).row(tenant, params.id, params.version_id),
          query.view,
        )
      },
    ),
    versions.post(
      '/:version_id/redact',
      {
        summary: 'Redact a version of a memory',
        description: 'Removes its content and keeps its place.',
        answer,
      },
      async ({ params: { id, version_id }, ...who }) =>
        showVersion(await writing(who, id, (at) => redactVersion(at, version_id)), 'full'),
    ),
  ]
}
