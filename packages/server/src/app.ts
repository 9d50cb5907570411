/** The table of contents of the API: one line a resource. */
import { z } from 'zod'
import type { MemoryAccess } from '@steward/protocol/session-resources.ts'
import { agentRoutes } from './agents/routes.ts'
import { apiKeyRoutes } from './api-keys/routes.ts'
import { auditRoutes } from './audit/routes.ts'
import type { Keeping } from './blobs/keeping.ts'
import type { Bus } from './bus/bus.ts'
import type { Namer } from './core/dial.ts'
import type { ClaimTokens } from './core/claim-token.ts'
import type { Log } from './core/log.ts'
import type { McpTokens } from './core/mcp-token.ts'
import type { Seal } from './core/seal.ts'
import type { Clock } from './core/time.ts'
import type { Databases } from './database/database.ts'
import type { Egress } from './egress/egress.ts'
import type { Upstream } from './egress/upstream.ts'
import { mcpProxyRoutes, remoteEgressRoutes } from './egress/routes.ts'
import { environmentRoutes } from './environments/routes.ts'
import { fileRoutes } from './files/routes.ts'
import type { Limits } from './files/upload.ts'
import { readiness } from './health/ready.ts'
import { healthRoutes } from './health/routes.ts'
import { mount } from './http/mount.ts'
import { openApi } from './http/openapi.ts'
import type { Authenticate, ClaimByKey, WithinClaim } from './http/principal.ts'
import type { OpenAnswers } from './http/open-answers.ts'
import type { Route } from './http/route.ts'
import type { Streams } from './http/streams.ts'
import { route } from './http/route.ts'
import type { FallbackKeys } from './model-cards/fallback.ts'
import type { ResolveModel, SpecOfModel } from './model-cards/resolve.ts'
import { modelGatewayRoutes } from './model-gateway/routes.ts'
import { modelCardRoutes } from './model-cards/routes.ts'
import { modelRoutes } from './models/routes.ts'
import { memoryStoreRoutes } from './memory-stores/routes.ts'
import { sessionEventRoutes } from './sessions/events/routes.ts'
import { outputRoutes } from './sessions/outputs/routes.ts'
import type { RepositoryHosts } from './sessions/resources/repositories.ts'
import { checkpointRoutes } from './sessions/checkpoints/routes.ts'
import { inputRoutes } from './sessions/inputs/routes.ts'
import { resourceRoutes } from './sessions/resources/routes.ts'
import { sessionRoutes } from './sessions/routes.ts'
import { sessionStore } from './sessions/store.ts'
import type { Refusals } from './sessions/supported.ts'
import { threadRoutes } from './sessions/threads/routes.ts'
import { checkSkills } from './skills/pin.ts'
import { skillRoutes } from './skills/routes.ts'
import { checkStanding } from './work/claim.ts'
import { underClaims } from './work/ending.ts'
import type { WorkSettings } from './work/queue.ts'
import { stdioRoutes } from './stdio-servers/routes.ts'
import { workRoutes } from './work/routes.ts'
import { vaultRoutes } from './vaults/routes.ts'
import { webhookRoutes } from './webhooks/routes.ts'

export type AppDeps = Refusals & {
  databases: Databases
  bus: Bus
  clock: Clock
  seal: Seal
  log: Log
  authenticate: Authenticate
  streams: Streams
  openAnswers: Pick<OpenAnswers, 'hold'>
  fallbackKeys: FallbackKeys
  offlineModel: boolean
  resolveModel: ResolveModel
  egress: Pick<Egress, 'proxy' | 'remote' | 'validate'>
  mcpTokens: McpTokens
  claimTokens: ClaimTokens
  withinClaim: WithinClaim
  claimByKey: ClaimByKey
  specOfModel: SpecOfModel
  models: Record<Namer, Pick<Upstream, 'send'>>
  modelAnswerMs: number
  work: WorkSettings
  /** Where workers reach this service; as they did, where it is left out. */
  publicUrl: string | undefined
  keeping: Keeping
  fileLimits: Limits
  /** Compressed bytes of one archive of a workspace. */
  checkpointBytes: number
  /** Whether outputs are published. */
  publishes: boolean
  /** Aborts when the server was told to stop. */
  stopping: AbortSignal
  repositoryHosts: RepositoryHosts
  storeAccess: MemoryAccess
  /** Named by memory stores that name none. */
  embeddingModel: string
  version: string
}

/** Every route there is; what is not among them does not exist. */
export function routesOf(deps: AppDeps): Route[] {
  const resources = [
    ...agentRoutes({ ...deps, checkSkills }),
    ...environmentRoutes(deps),
    ...sessionRoutes(deps),
    ...sessionEventRoutes(deps),
    ...threadRoutes(deps),
    ...resourceRoutes(deps),
    ...checkpointRoutes(deps),
    ...inputRoutes({ ...deps, blobs: deps.keeping.blobs }),
    ...outputRoutes({ ...deps, blobs: deps.keeping.blobs }),
    ...fileRoutes({
      ...deps,
      limits: deps.fileLimits,
      holdSession: async (tx, tenant, session) =>
        void (await sessionStore(tx).takeOpen(tenant, session)),
    }),
    ...modelRoutes(deps),
    ...modelCardRoutes(deps),
    ...apiKeyRoutes(deps),
    ...vaultRoutes({ ...deps, validate: deps.egress.validate }),
    ...auditRoutes(deps),
    ...memoryStoreRoutes({ ...deps, checkClaim: checkStanding }),
    ...skillRoutes({ ...deps, largest: deps.fileLimits.workspace }),
    ...mcpProxyRoutes({ ...deps, under: underClaims(deps) }),
    ...remoteEgressRoutes(deps),
    ...workRoutes(deps),
    ...stdioRoutes(deps),
    ...modelGatewayRoutes(deps),
    ...webhookRoutes(deps),
  ]
  const open = { method: 'get', callers: ['anyone'], section: 'Health' } as const
  let described: object | undefined
  const description: Route = route(
    {
      ...open,
      path: '/openapi.json',
      summary: 'This interface, as OpenAPI 3.1',
      answer: z.looseObject({}),
    },
    async (): Promise<object> => (described ??= openApi(routes, deps.version)),
  )
  const routes: Route[] = [
    ...healthRoutes(readiness(deps), deps.stopping),
    description,
    ...resources,
  ]
  return routes
}

export const app = (deps: AppDeps) => mount(routesOf(deps), deps)
