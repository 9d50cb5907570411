/** What a session brings in, of every kind, each at a place of its own. */
import type {
  FileResource,
  MemoryAccess,
  MemoryStoreResource,
  RepositoryResource,
} from '@steward/protocol/session-resources.ts'
import { invalid } from '../../ground/core/errors.ts'
import { newId } from '../../ground/core/ids.ts'
import type { Seal } from '../../ground/core/seal.ts'
import { iso } from '@steward/base/time.ts'
import type { Queries } from '../../ground/database/database.ts'
import { copyFile } from './files.ts'
import { storeColumns } from './memory-stores.ts'
import { checkFree, resolveFilePath, resolveRepositoryPath } from './mount-path.ts'
import type { RepositoryHosts } from './repositories.ts'
import { checkRepositoryUrl, defaultMount, repositoryColumns } from './repositories.ts'
import type { ResourceRow } from '../rows/resources.ts'
import { resourceStore } from '../rows/resources.ts'

/** Resources of one session. [resources/file/most] */
const mostResources = 500

export type AddDeps = {
  tenant: string
  session: string
  now: number
  seal: Seal
  hosts: RepositoryHosts
  /** The most that memory stores can be attached with, by what runs sandboxes here. */
  storeAccess: MemoryAccess
}

/** `at` names its place in the request. */
export type ResourceRequest = {
  resource: FileResource | RepositoryResource | MemoryStoreResource
  at: string
}

/** The caller holds the session. */
export async function addResources(
  tx: Queries,
  deps: AddDeps,
  wanted: readonly ResourceRequest[],
): Promise<ResourceRow[]> {
  const { tenant, session } = deps
  const resources = resourceStore(tx)
  const there = (await resources.ofSessions(tenant, [session])).get(session) ?? []
  if (there.length + wanted.length > mostResources)
    throw invalid(`resources: a session has at most ${mostResources}`)
  const all = [...there]
  for (const { resource, at } of wanted) {
    const row = await rowOf(tx, deps, resource, { others: all, at })
    checkFree(row, all, `${at}mount_path`)
    await resources.insert(row)
    all.push(row)
  }
  return all.slice(there.length)
}

async function rowOf(
  tx: Queries,
  { tenant, session, now, seal, hosts, storeAccess: most }: AddDeps,
  resource: ResourceRequest['resource'],
  { others, at }: { others: readonly ResourceRow[]; at: string },
): Promise<ResourceRow> {
  const id = newId('session_resource')
  const common = {
    tenant_id: tenant,
    session_id: session,
    id,
    refers_to: null,
    sealed_token: null,
    mounted_at: null,
    created_at: iso(now),
    updated_at: iso(now),
  }
  const place = `${at}mount_path`
  if (resource.type === 'github_repository') {
    const url = checkRepositoryUrl(resource.url, hosts, `${at}url`)
    const columns = repositoryColumns({ tenant, id, seal }, { ...resource, url })
    const mount_path = resource.mount_path ?? defaultMount(url)
    const resolved_path = resolveRepositoryPath(mount_path, place)
    return { ...common, ...columns, type: resource.type, mount_path, resolved_path }
  }
  if (resource.type === 'memory_store') {
    const columns = await storeColumns(tx, { tenant, most }, resource, { others, at })
    return { ...common, ...columns, type: resource.type }
  }
  const { type, file_id } = resource
  const mount_path = resource.mount_path ?? `/mnt/session/uploads/${file_id}`
  const resolved_path = resolveFilePath(mount_path, place)
  const copy = await copyFile(tx, { tenant, session, now }, file_id)
  const fields = { file_id: copy }
  return { ...common, type, mount_path, resolved_path, refers_to: copy, fields }
}
