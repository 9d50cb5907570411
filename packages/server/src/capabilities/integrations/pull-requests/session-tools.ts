/** The tools that a publication gives to the agents of its sessions. */
import { permissionOf } from '@steward/harness/tools/permission.ts'
import { pullRequestTool } from '@steward/harness/tools/pull-request.ts'
import type { Tool } from '@steward/harness/tools/tool.ts'
import { rows } from '../../../ground/database/rows.ts'
import type { TurnSessionRow } from '../../../sessions/rows/sessions.ts'
import { integrationStore } from '../store.ts'
import type { PullRequestDeps } from './open.ts'
import { opensPullRequests } from './open.ts'

/**
 * Empty for a session that no publication has begun: only the service writes who has begun a session. `thread`: of an
 * agent that another agent has started, which has its own tools alone. A session about a pull request of a fork gets
 * none, because it may write nothing at the provider.
 */
export async function publicationTools(
  deps: PullRequestDeps,
  {
    tenant_id: tenant,
    id: session,
    creator_type,
    creator_id,
  }: Pick<TurnSessionRow, 'tenant_id' | 'id' | 'creator_type' | 'creator_id'>,
  thread: string | undefined,
): Promise<Tool[]> {
  if (thread !== undefined || creator_type !== 'publication' || creator_id === null) return []
  const db = await deps.databases.open(tenant)
  const publication = await rows(db.read, 'publications').find(tenant, creator_id)
  const policy = publication?.spec.github?.pull_requests ?? null
  if (!publication || policy === null) return []
  const app = deps.apps.get(publication.integration)
  const external = await integrationStore(db.read).threadOfSession(tenant, creator_id, session)
  if (!app?.openPullRequest || !external || external.reads_only === 1) return []
  const published = { db, publication, thread: { ...external, session_id: session } }
  const opening = { ...app, openPullRequest: app.openPullRequest }
  const tool = pullRequestTool(opensPullRequests(deps, published, opening))
  return [{ ...tool, permission: permissionOf(policy) }]
}
