/** The tools that a publication gives to the agents of its sessions. */
import { automationsTool } from '@steward/harness/tools/automations.ts'
import { permissionOf } from '@steward/harness/tools/permission.ts'
import { pullRequestTool } from '@steward/harness/tools/pull-request.ts'
import type { Tool } from '@steward/harness/tools/tool.ts'
import { rows } from '../../../ground/database/rows.ts'
import type { AutomationParts } from '../../../sessions/automations.ts'
import type { TurnSessionRow } from '../../../sessions/rows/sessions.ts'
import { codeHostOf, pullRequestPolicyOf } from '../hosted-repository.ts'
import { integrationStore } from '../store.ts'
import type { PublishedThread, PullRequestDeps } from './open.ts'
import { opensPullRequests } from './open.ts'

type PublicationToolDeps = PullRequestDeps & { automations: Pick<AutomationParts, 'ofSession'> }

/**
 * Empty for a session that no publication has begun: only the service writes who has begun a session. `thread`: of an
 * agent that another agent has started, which has its own tools alone. A session about a pull request of a fork gets
 * none, because it may write nothing at the provider.
 */
export async function publicationTools(
  deps: PublicationToolDeps,
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
  if (!publication) return []
  const { automations = null } = publication.spec
  const opening = pullRequestPolicyOf(publication.spec)
  if (automations === null && opening === undefined) return []
  const external = await integrationStore(db.read).threadOfSession(tenant, creator_id, session)
  if (!external || external.reads_only === 1) return []
  const published = { db, publication, thread: { ...external, session_id: session } }
  return [
    ...(opening === undefined ? [] : openingTool(deps, published, opening)),
    ...(automations === null
      ? []
      : [
          withPolicy(automationsTool(deps.automations.ofSession({ tenant, session })), automations),
        ]),
  ]
}

type Policy = Parameters<typeof permissionOf>[0]

const withPolicy = (tool: Omit<Tool, 'permission'>, policy: Policy): Tool => ({
  ...tool,
  permission: permissionOf(policy),
})

function openingTool(deps: PullRequestDeps, published: PublishedThread, policy: Policy): Tool[] {
  const app = deps.apps.get(codeHostOf(published.publication))
  if (!app?.openPullRequest) return []
  const opening = { ...app, openPullRequest: app.openPullRequest }
  return [withPolicy(pullRequestTool(opensPullRequests(deps, published, opening)), policy)]
}
