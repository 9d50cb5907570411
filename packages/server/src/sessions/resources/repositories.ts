/** Repositories of a session: which URLs are accepted, and their tokens. [resources/repository/address] */
import { hostList, isBadPort, normalHost } from '@steward/gate/policy.ts'
import { invalid } from '../../ground/core/errors.ts'
import type { Seal } from '../../ground/core/security/seal.ts'
import { iso } from '@steward/base/time.ts'
import type { Queries } from '../../ground/database/database.ts'
import type { ResourceKind } from './kind.ts'
import { requestedPathNote, resolveRepositoryPath } from './mount-path.ts'
import type { ResourceRow } from '../rows/resources.ts'
import { ofType, repositoryTokenContext, resourceStore } from '../rows/resources.ts'

/** Hosts that repositories may be on, as the operator lists them. Empty: any host. */
export type RepositoryHosts = readonly string[]

export type RepositoryRow = ResourceRow<'github_repository'>
export type RepositoryKindDeps = { seal: Seal; repositoryHosts: RepositoryHosts }

export const repositoryKind = ({
  seal,
  repositoryHosts,
}: RepositoryKindDeps): ResourceKind<'github_repository'> => ({
  async attach(_tx, { tenant, id, at }, { type, checkout, ...asked }) {
    const url = checkRepositoryUrl(asked.url, repositoryHosts, `${at}url`)
    const token = asked.authorization_token
    const sealed_token = token ? seal.seal(token, repositoryTokenContext(tenant, id)) : null
    const mount_path = asked.mount_path ?? defaultMount(url)
    const resolved_path = resolveRepositoryPath(mount_path, `${at}mount_path`)
    const fields = { url, checkout: checkout ?? null }
    return { type, mount_path, resolved_path, sealed_token, fields }
  },
  detach: null,
  requestAgain({ type, fields, mount_path, sealed_token, tenant_id, id }) {
    const token = sealed_token && seal.open(sealed_token, repositoryTokenContext(tenant_id, id))
    const { url, checkout } = fields
    return { type, url, checkout, mount_path, ...(token ? { authorization_token: token } : {}) }
  },
  findAbsence: async () => undefined,
  async describe(resources) {
    const text = describeRepositories(resources)
    return () => text
  },
  workerInput: 'repositories',
  plural: 'repositories',
  pathsOf: (path) => [path],
})

/** Refuses escapes of characters that a server could read as something other than part of a name. */
const path = /^(?:\/(?:[\w.~+@:=,-]|%20|%[c-fC-F89abAB][\da-fA-F])+)+$/

/** The normal form of the URL, which is stored, shown and cloned from. `at` names the field. */
function checkRepositoryUrl(text: string, hosts: RepositoryHosts, at: string): string {
  const url = URL.parse(text)
  if (url?.protocol !== 'https:') throw invalid(`${at}: must be an https URL of a git repository`)
  if (url.username !== '' || url.password !== '')
    throw invalid(`${at}: may hold no credentials: they belong into authorization_token`)
  if (url.search !== '' || url.hash !== '')
    throw invalid(`${at}: may have no query and no fragment`)
  const host = normalHost(url.hostname)
  if (host === undefined) throw invalid(`${at}: names its host by an address; use its name`)
  if (isBadPort(Number(url.port || 443)))
    throw invalid(`${at}: port ${url.port} belongs to another protocol than HTTP`)
  if (hosts.length > 0 && !hostList(hosts)(host))
    throw invalid(`${at}: ${host} is not among the hosts that this server clones from`)
  const trimmed = url.pathname.replace(/\/+$/, '')
  if (!path.test(trimmed) || nameOf(trimmed) === '')
    throw invalid(`${at}: its path does not name a repository`)
  return url.origin + trimmed
}

/** The last part of the path, without `.git`. */
function nameOf(pathname: string): string {
  const last = decodeURIComponent(pathname.split('/').at(-1) ?? '')
  return last.replace(/\.git$/, '')
}

const defaultMount = (url: string): string => `/workspace/${nameOf(new URL(url).pathname)}`

/** The caller holds the session's row. The next call to the repository's host carries the new token. */
export async function rotateToken(
  tx: Queries,
  { tenant, session, now, seal }: { tenant: string; session: string; now: number; seal: Seal },
  id: string,
  token: string,
): Promise<ResourceRow> {
  const resources = resourceStore(tx)
  const row = await resources.row(tenant, session, id)
  if (row.type !== 'github_repository')
    throw invalid(`authorization_token: a resource of type ${row.type} has none`)
  const change = {
    sealed_token: seal.seal(token, repositoryTokenContext(tenant, id)),
    updated_at: iso(now),
  }
  await resources.update(tenant, session, id, change)
  return { ...row, ...change }
}

/** A part of the system prompt; empty without repositories. */
export function describeRepositories(rows: readonly ResourceRow[]): string {
  const lines = ofType(rows, 'github_repository').map((row) => {
    const { url, checkout } = row.fields
    const at =
      checkout?.type === 'commit' ? `commit ${checkout.sha}` : checkout && `branch ${checkout.name}`
    return `- ${row.resolved_path}: ${url}${at === null ? '' : `, ${at}`}${requestedPathNote(row)}`
  })
  if (lines.length === 0) return ''
  const head =
    'These git repositories are cloned for you. What credentials there are for them are added to what git sends:'
  return [head, ...lines].join('\n')
}
