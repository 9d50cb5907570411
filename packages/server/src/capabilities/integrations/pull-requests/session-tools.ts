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
 * Empty for a session that no publication has begun: only the service writes who has begun a session. A session about a
 * pull request of a fork gets none, because it may write nothing at the provider.
 */
export async function publicationTools(
  deps: PullRequestDeps,
  { tenant_id: tenant, id: session, creator_type, creator_id }: TurnSessionRow,
): Promise<Tool[]> {
  if (creator_type !== 'publication' || creator_id === null) return []
  const db = await deps.databases.open(tenant)
  const publication = await rows(db.read, 'publications').find(tenant, creator_id)
  const policy = publication?.spec.github?.pull_requests ?? null
  if (!publication || policy === null) return []
  const app = deps.apps.get(publication.integration)
  const thread = await integrationStore(db.read).threadOfSession(tenant, creator_id, session)
  if (!app?.openPullRequest || !thread || thread.reads_only === 1) return []
  const place = { db, publication, thread: { ...thread, session_id: session } }
  const opening = { ...app, openPullRequest: app.openPullRequest }
  const tool = pullRequestTool(opensPullRequests(deps, place, opening))
  return [{ ...tool, permission: permissionOf(policy) }]
}
