/** The table of contents of the API: one line a resource. */
import type { PriceTable } from '@steward/model/price.ts'
import type { AllowLists } from '@steward/protocol/rules.ts'
import type { BlockList } from 'node:net'
import { deploymentRoutes } from '../../capabilities/deployments/routes.ts'
import { archiveAgentDeployments } from '../../capabilities/deployments/write.ts'
import { dreamRoutes } from '../../capabilities/dreams/routes.ts'
import { datasetRoutes } from '../../capabilities/evals/datasets/routes.ts'
import type { OpenIntegrations } from '../../capabilities/integrations/open.ts'
import { integrationRoutes } from '../../capabilities/integrations/routes.ts'
import { replayRoutes } from '../../capabilities/replay/routes.ts'
import { evalRoutes } from '../../capabilities/evals/routes.ts'
import { agentRoutes } from '../../resources/agents/routes.ts'
import { organizationKeyRoutes } from '../../tenants/api-keys/organization-routes.ts'
import { apiKeyRoutes } from '../../tenants/api-keys/routes.ts'
import { organizationPeopleRoutes } from '../../tenants/members/organization-routes.ts'
import { memberRoutes } from '../../tenants/members/routes.ts'
import { viewRoutes } from '../../tenants/members/views/routes.ts'
import { memberStore } from '../../tenants/people/members/store.ts'
import type { People } from '../../tenants/people/people.ts'
import { oauthRoutes } from '../../tenants/people/oauth.ts'
import { signInRoutes } from '../../tenants/people/routes.ts'
import type { Limits } from '../../tenants/limits/limits.ts'
import type { ProcessUse } from '../../tenants/limits/quota-routes.ts'
import { quotaRoutes } from '../../tenants/limits/quota-routes.ts'
import { holdRoutes } from '../../tenants/workspaces/holds/routes.ts'
import { peopleDataRoutes } from '../../capabilities/people-data/routes.ts'
import { retentionRoutes } from '../../capabilities/retention/routes.ts'
import type { OperatorDays } from '../../capabilities/retention/days.ts'
import { ruleRoutes } from '../../tenants/limits/rules/routes.ts'
import { spendLimitRoutes } from '../../tenants/limits/spending/routes.ts'
import { rateLimitRoutes } from '../../tenants/limits/routes.ts'
import { organizationReportRoutes } from '../../tenants/usage/organization-reports.ts'
import { usageRoutes } from '../../tenants/usage/routes.ts'
import type { CallCounts } from '../../tenants/audit/call-counts.ts'
import { auditRoutes } from '../../tenants/audit/routes.ts'
import type { BlobKeeping } from '../../ground/blobs/blob-keeping.ts'
import type { BlobStoreMark } from '../../ground/blobs/blob-store-mark.ts'
import type { Namer } from '../../ground/core/security/dial.ts'
import type { ClaimTokens } from '../../ground/core/security/claim-token.ts'
import type { McpTokens } from '../../ground/core/security/mcp-token.ts'
import type { Share } from '../../ground/core/fairness/share.ts'
import type { Egress } from '../../engine/egress/egress.ts'
import { agentIdentityRoutes } from '../../engine/egress/identity/routes.ts'
import { mcpProbeRoutes } from '../../engine/egress/callers/probe-routes.ts'
import { mcpProxyRoutes, remoteEgressRoutes } from '../../engine/egress/callers/routes.ts'
import { environmentRoutes } from '../../resources/environments/routes.ts'
import { fileRoutes } from '../../resources/files/routes.ts'
import type { UploadLimits } from '../../resources/files/upload.ts'
import { createReadinessCheck } from '../../ground/health/ready.ts'
import { healthRoutes } from '../../ground/health/routes.ts'
import { auditCalls } from '../../ground/http/route-audit.ts'
import { mountRoutes } from '../../ground/http/mount-routes.ts'
import { descriptionRoute } from '../../ground/http/openapi/openapi.ts'
import type { Authenticate, ClaimByKey, WithinClaim } from '../../ground/http/principal.ts'
import type { OpenAnswers } from '../../ground/http/open-answers.ts'
import type { Route } from '../../ground/http/route.ts'
import type { Streams } from '../../ground/http/streams.ts'
import type { Ground } from '../../ground/ground.ts'
import type { OperatorModels } from '../../resources/model-cards/fallback.ts'
import type { CloudRights } from '../../resources/model-cards/write.ts'
import type { ResolveModel, SpecOfModel } from '../../resources/model-cards/resolve.ts'
import type { Archives } from '../../engine/folders/archives.ts'
import { folderRoutes } from '../../engine/folders/routes.ts'
import type { FolderViews } from '../../engine/folders/session-folders.ts'
import type { MessageRouteDeps } from '../../engine/models/messages/routes.ts'
import { messageRoutes } from '../../engine/models/messages/routes.ts'
import { modelGatewayRoutes } from '../../engine/model-gateway/routes.ts'
import type { ModelUpstream } from '../../engine/models/pass-on.ts'
import { modelCardRoutes } from '../../resources/model-cards/routes.ts'
import { tokenEstimateRoutes } from '../../engine/models/estimate-routes.ts'
import { modelRoutes } from '../../engine/models/routes.ts'
import { memoryStoreRoutes } from '../../resources/memory-stores/routes.ts'
import { sessionEventRoutes } from '../../sessions/events/routes.ts'
import { waitingMessageRoutes } from '../../sessions/events/waiting-routes.ts'
import { outputRoutes } from '../../sessions/outputs/routes.ts'
import type { ResourceKinds } from '../../sessions/resources/kinds.ts'
import { checkpointRoutes } from '../../sessions/claimed/checkpoints/routes.ts'
import { inputRoutes } from '../../sessions/claimed/inputs/routes.ts'
import { resourceRoutes } from '../../sessions/resources/routes.ts'
import { findRoutes } from '../../sessions/events/find/routes.ts'
import { forkRoutes } from '../../sessions/fork-routes.ts'
import { allowanceRoutes } from '../../sessions/allowance-routes.ts'
import { sessionRoutes } from '../../sessions/routes.ts'
import { summaryRoutes } from '../../sessions/summary-routes.ts'
import { sessionStore } from '../../sessions/rows/sessions.ts'
import type { Refusals } from '../../sessions/resources/supported.ts'
import { threadRoutes } from '../../sessions/threads/routes.ts'
import { checkSkills } from '../../resources/skills/pin-skills.ts'
import { skillRoutes } from '../../resources/skills/routes.ts'
import { checkWritingClaim } from '../../sessions/work/claim.ts'
import { underClaims } from '../../sessions/work/ending.ts'
import type { WorkSettings } from '../../sessions/work/queue.ts'
import type { WorkspaceChanges } from '../../sessions/events/workspace/changes.ts'
import { workspaceStreamRoutes } from '../../sessions/events/workspace/routes.ts'
import { commandOutputRoutes } from '../../sessions/claimed/command-output/routes.ts'
import { stdioRoutes } from '../../sessions/stdio-servers/routes.ts'
import { workRoutes } from '../../sessions/work/routes.ts'
import type { TryReferences } from '../../resources/vaults/admit-references.ts'
import { vaultRoutes } from '../../resources/vaults/routes.ts'
import type { OAuthSettings } from '../../tenants/signin/oauth/routes.ts'
import { oauthLoginRoutes } from '../../tenants/signin/oauth/routes.ts'
import { signInPages } from '../../tenants/signin/routes.ts'
import { workspaceRoutes } from '../../tenants/workspaces/routes.ts'
import { consoleRoutes } from '../console/routes.ts'
import { endpointsPageRoutes } from '../docs/endpoints-page.ts'
import { docsRoutes } from '../docs/routes.ts'
import { openaiSurface } from '../openai/later.ts'
import { auditExceptions } from './audit.ts'
import { apiDescription } from './description.ts'
import { organizationWebhookRoutes } from '../../tenants/webhooks/organization-routes.ts'
import { webhookRoutes } from '../../tenants/webhooks/routes.ts'

export type AppDeps = Refusals &
  OperatorModels &
  CloudRights &
  Ground &
  Pick<MessageRouteDeps, 'messagesApi' | 'messageCounting' | 'messageSlots' | 'reachModel'> & {
    blobStore: BlobStoreMark
    integrations: OpenIntegrations
    authenticate: Authenticate
    people: People
    oauth: OAuthSettings
    /** Named in every webhook, and as the organisation. */
    organizationId: string | undefined
    streams: Streams
    changes: WorkspaceChanges
    openAnswers: OpenAnswers
    limits: Limits
    /** Counts posts to sessions, by caller. */
    posts: CallCounts
    /** Proxies that are believed when they name the address of a caller. */
    proxies: BlockList
    heldHere: ProcessUse
    /** The tenants' shares of the processes that match expressions. */
    matches: Share
    offlineModel: boolean
    /** The operator's lists of what workspaces may name. */
    allowed: AllowLists
    /** The operator's days of retention. */
    retentionDays: OperatorDays
    /** The operator's prices. */
    prices: PriceTable
    resolveModel: ResolveModel
    /** Reads what references name before a credential keeps them. */
    tryReferences: TryReferences
    egress: Pick<Egress, 'probe' | 'proxy' | 'remote' | 'validate' | 'identity'>
    mcpTokens: McpTokens
    claimTokens: ClaimTokens
    withinClaim: WithinClaim
    claimByKey: ClaimByKey
    specOfModel: SpecOfModel
    models: Record<Namer, ModelUpstream>
    modelAnswerMs: number
    work: WorkSettings
    /** The URL at which workers reach this service. Without it, workers get the URL that they used. */
    publicUrl: string | undefined
    keeping: BlobKeeping
    folders: FolderViews
    archives: Archives
    fileLimits: UploadLimits
    /** Compressed bytes of one archive of a workspace. */
    checkpointBytes: number
    /** The number of older checkpoints of a session that are kept. */
    checkpointHistory: number
    /** True when outputs are published. */
    publishes: boolean
    /** Aborts when the server is told to stop. */
    stopping: AbortSignal
    kinds: ResourceKinds
    /** The embedding model of memory stores that name none. */
    embeddingModel: string
    version: string
  }

/** Every route of the API: a path that is not in this list does not exist. */
export function createRoutes(deps: AppDeps): Route[] {
  const spendSummaries = (tenant: string) => deps.limits.spending.summaries(tenant)
  const lookedAt = (tenant: string, person: string) =>
    memberStore(deps.databases.control.read).lookedAt(tenant, person)
  const resources = [
    ...agentRoutes({ ...deps, checkSkills, withArchived: archiveAgentDeployments }),
    ...environmentRoutes(deps),
    ...sessionRoutes(deps),
    ...summaryRoutes({ ...deps, spendSummaries, lookedAt }),
    ...allowanceRoutes(deps),
    ...forkRoutes(deps),
    ...folderRoutes(deps),
    ...sessionEventRoutes(deps),
    ...findRoutes(),
    ...threadRoutes(deps),
    ...workspaceStreamRoutes(deps),
    ...waitingMessageRoutes(deps),
    ...resourceRoutes(deps),
    ...checkpointRoutes(deps),
    ...inputRoutes({ ...deps, blobs: deps.keeping.blobs }),
    ...outputRoutes({ ...deps, blobs: deps.keeping.blobs }),
    ...fileRoutes({
      ...deps,
      limits: deps.fileLimits,
      quotas: deps.limits.quotas,
      holdSession: async (tx, tenant, session) =>
        void (await sessionStore(tx).getOpenForUpdate(tenant, session)),
    }),
    ...modelRoutes(deps),
    ...tokenEstimateRoutes(),
    ...modelCardRoutes(deps),
    ...apiKeyRoutes(deps),
    ...signInRoutes(deps.people),
    ...oauthRoutes(deps.people),
    ...memberRoutes(deps.people),
    ...viewRoutes(deps),
    ...organizationPeopleRoutes(deps.people),
    ...workspaceRoutes(deps),
    ...organizationKeyRoutes(deps),
    ...vaultRoutes({ ...deps, validate: deps.egress.validate }),
    ...auditRoutes(),
    ...usageRoutes({ ...deps, spendSummaries }),
    ...organizationReportRoutes(deps),
    ...rateLimitRoutes(deps),
    ...quotaRoutes(deps),
    ...spendLimitRoutes(deps),
    ...ruleRoutes(deps),
    ...peopleDataRoutes(deps),
    ...retentionRoutes(deps),
    ...holdRoutes(deps),
    ...memoryStoreRoutes({ ...deps, checkClaim: checkWritingClaim }),
    ...skillRoutes(deps),
    ...agentIdentityRoutes({ ...deps, ...deps.egress }),
    ...mcpProbeRoutes(deps),
    ...mcpProxyRoutes({ ...deps, under: underClaims(deps) }),
    ...remoteEgressRoutes(deps),
    ...workRoutes(deps),
    ...stdioRoutes(deps),
    ...commandOutputRoutes(deps),
    ...modelGatewayRoutes(deps),
    ...messageRoutes(deps),
    ...webhookRoutes(deps),
    ...organizationWebhookRoutes(deps),
    ...deploymentRoutes(deps),
    ...dreamRoutes(deps),
    ...evalRoutes(deps),
    ...datasetRoutes(deps),
    ...replayRoutes(deps),
    ...integrationRoutes({ ...deps, ...deps.integrations }),
  ]
  const routes: Route[] = [
    ...healthRoutes({ ...deps, ready: createReadinessCheck(deps) }),
    descriptionRoute('/openapi.json', deps.version, { ...apiDescription, routes: () => routes }),
    ...endpointsPageRoutes(),
    ...docsRoutes(deps),
    ...signInPages(deps.people),
    ...oauthLoginRoutes(deps, { ...deps, settings: deps.oauth }),
    ...consoleRoutes(deps),
    ...resources,
  ]
  return routes
}

export const createApp = (deps: AppDeps) =>
  mountRoutes(
    createRoutes(deps),
    {
      ...deps,
      rateLimits: deps.limits.requests,
      countFailure: (address) => deps.limits.admit('failures', address),
      audit: auditCalls(auditExceptions, deps.posts.note),
    },
    [openaiSurface(deps)],
  )
