/** The inputs of a session, for the worker that has claimed it. [worker/input/files/asked] */
import {
  GivenFiles,
  GivenFilesQuery,
  MemoryChanges,
  MemoryContents,
  MemoryOutcomes,
  MemoryPaths,
  RepositoryFailed,
  FailureTold,
  NotBegun,
  StoreFacts,
  StoreRevisions,
} from '@steward/protocol/inputs.ts'
import type { Blobs } from '../../../ground/blobs/blobs.ts'
import { forbidden, notFound } from '../../../ground/core/errors.ts'
import type { Database } from '../../../ground/database/database.ts'
import { requireClaim } from '../../../ground/http/principal.ts'
import { contentBody, recordBody } from '../../../ground/http/limits.ts'
import type { Route } from '../../../ground/http/route.ts'
import { section } from '../../../ground/http/section.ts'
import type { Ground } from '../../../ground/ground.ts'
import { memoryStore } from '../../../resources/memory-stores/mounted-store.ts'
import { memoryStoreStore } from '../../../resources/memory-stores/store.ts'
import { checkClaim, checkWritingClaim } from '../../work/claim.ts'
import { givenFiles } from '../../resources/file-source.ts'
import { ofType, resourceStore } from '../../rows/resources.ts'
import { reportFailure, reportNotBegun } from './failure.ts'
import type { Limits } from '../../../tenants/limits/limits.ts'

type InputRouteDeps = Ground & {
  blobs: Blobs
  limits: Limits
}

const files = section('Workers', ['claim'], '/v1/ext/inputs/:session_id/files', 'session')
const stores = section(
  'Workers',
  ['claim'],
  '/v1/ext/inputs/:session_id/stores',
  "session's stores",
)
const inputs = section('Workers', ['claim'], '/v1/ext/inputs/:session_id', 'session')

export const inputRoutes = (deps: InputRouteDeps): Route[] => [
  ...fileRoutes(deps),
  ...storeRoutes(deps),
  ...repositoryRoutes(deps),
]

function fileRoutes(deps: InputRouteDeps): Route[] {
  return [
    files.get(
      '',
      { summary: 'List the files of a session', query: GivenFilesQuery, answer: GivenFiles },
      async ({ db, tenant, params: { session_id }, query }) => {
        const given = givenFiles(db, deps, tenant, session_id)
        // Read the revision before the files: a file that is added in between is seen at the next look.
        const revision = (await given.revision()) ?? 0
        if (revision === query.known) return { revision, files: null }
        const files = await given.files()
        return {
          revision,
          files: files.map(({ id, filename, resolvedPath, isTold }) => ({
            id,
            filename,
            resolved_path: resolvedPath,
            is_told: isTold,
          })),
        }
      },
    ),
    files.get(
      '/:file',
      { answer: 'bytes', summary: 'Get the bytes of a file of a session' },
      async ({ db, tenant, params: { session_id, file } }) => {
        const body = await givenFiles(db, deps, tenant, session_id).open(file)
        if (!body) throw notFound('file', file)
        const headers: [string, string][] = [['content-type', 'application/octet-stream']]
        return { reply: 'raw', status: 200, headers, body, ours: true }
      },
    ),
  ]
}

function storeRoutes({ clock, limits }: InputRouteDeps): Route[] {
  async function attached({ read }: Database, tenant: string, session: string) {
    const all = await resourceStore(read).ofSession(tenant, session)
    return ofType(all, 'memory_store').map(({ fields }) => fields)
  }
  async function one(db: Database, tenant: string, session: string, id: string) {
    const rows = await attached(db, tenant, session)
    const row = rows.find(({ memory_store_id }) => memory_store_id === id)
    if (!row) throw forbidden(`memory store ${id} is not attached to this session`)
    return row
  }

  return [
    stores.get(
      '',
      {
        answer: StoreRevisions,
        summary: "List the revisions of a session's memory stores",
        description: 'A store whose revision is another one has changed.',
      },
      async ({ db, tenant, params: { session_id } }) => {
        const rows = await attached(db, tenant, session_id)
        const ids = rows.map(({ memory_store_id }) => memory_store_id)
        if (ids.length === 0) return { revisions: {} }
        const found = await memoryStoreStore(db.read).revisions(tenant, ids)
        return { revisions: Object.fromEntries(found) }
      },
    ),
    stores.get(
      '/:store',
      {
        answer: StoreFacts,
        summary: "List the memories of a session's store",
        description: 'By their paths and hashes.',
      },
      async ({ db, tenant, params: { session_id, store } }) => {
        await one(db, tenant, session_id, store)
        const facts = await memoryStore(db.read).facts(tenant, store)
        return { facts: facts ? { ...facts, hashes: [...facts.hashes] } : null }
      },
    ),
    stores.post(
      '/:store/contents',
      {
        body: MemoryPaths,
        limits: recordBody,
        answer: MemoryContents,
        summary: "Get memories of a session's store by their paths",
        description: 'Answers the text of each memory that exists, and leaves the others out.',
      },
      async ({ db, tenant, params: { session_id, store }, body: { paths } }) => {
        await one(db, tenant, session_id, store)
        if (paths.length === 0) return { memories: [] }
        return { memories: await memoryStore(db.read).contents(tenant, store, paths) }
      },
    ),
    stores.post(
      '/:store/changes',
      {
        body: MemoryChanges,
        limits: contentBody,
        answer: MemoryOutcomes,
        summary: 'Write the changes of a session to a memory store',
        description:
          'Each change names the hash that it began from. Of two that changed one memory the later one is told, and nothing of it is written.',
      },
      async ({ db, tenant, principal, params: { session_id, store }, body: { changes } }) => {
        const { access } = await one(db, tenant, session_id, store)
        if (access !== 'read_write')
          throw forbidden(`memory store ${store} is attached to this session as read_only`)
        const actor = { type: 'session_actor', session_id } as const
        const checkRoom = await limits.quotas.room(tenant, 'stored_bytes')
        const written = await db.write(async (tx) => {
          const now = clock.now()
          await checkWritingClaim(tx, requireClaim(principal), now)
          return memoryStore(tx).writeAll(tenant, store, { actor, changes }, { now, checkRoom })
        })
        return { written: written ?? null }
      },
    ),
  ]
}

function repositoryRoutes({ clock }: InputRouteDeps): Route[] {
  return [
    inputs.post(
      '/failure',
      {
        body: NotBegun,
        answer: FailureTold,
        summary: 'Report why a worker could not begin a session',
        description: "The session's log says it.",
      },
      async ({ db, tenant, principal, params: { session_id: session }, body: { message } }) => {
        const now = clock.now()
        const told = await db.write(async (tx) => {
          await checkClaim(tx, requireClaim(principal), now)
          return reportNotBegun(tx, { tenant, session }, message, now)
        })
        return { told }
      },
    ),
    inputs.post(
      '/repositories/:resource/failure',
      {
        body: RepositoryFailed,
        answer: FailureTold,
        summary: 'Report why a repository could not be cloned',
        description: "The session's log says it.",
      },
      async ({ db, tenant, principal, params: { session_id, resource }, body }) => {
        const now = clock.now()
        const told = await db.write(async (tx) => {
          await checkClaim(tx, requireClaim(principal), now)
          return reportFailure(tx, { tenant, session: session_id, resource }, body, now)
        })
        return { told }
      },
    ),
  ]
}
