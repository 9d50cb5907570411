/** The table of contents of `/openai/v1`: the wire of the OpenAI Agents API over the functions that `/v1` uses. */
import type { Databases } from '../../ground/database/database.ts'
import { descriptionRoute } from '../../ground/http/openapi.ts'
import type { Route } from '../../ground/http/route.ts'
import type { AgentRouteDeps } from './agents/routes.ts'
import { agentRoutes } from './agents/routes.ts'
import type { ArtifactRouteDeps } from './artifacts/routes.ts'
import { artifactRoutes } from './artifacts/routes.ts'
import type { AutomationRouteDeps } from './automations/routes.ts'
import { automationRoutes } from './automations/routes.ts'
import { surface } from './description.ts'
import { environmentRoutes } from './environments/routes.ts'
import { templateRoutes } from './environments/templates.ts'
import type { FileRouteDeps } from './files/routes.ts'
import { fileRoutes } from './files/routes.ts'
import type { SessionRouteDeps } from './sessions/routes.ts'
import { sessionRoutes } from './sessions/routes.ts'
import type { SkillRouteDeps } from './skills/routes.ts'
import { skillRoutes } from './skills/routes.ts'
import { subagentRoutes } from './subagents/routes.ts'
import { traceRoutes } from './traces/routes.ts'
import { turnRoutes } from './turns/routes.ts'
import type { VaultRouteDeps } from './vaults/routes.ts'
import { vaultRoutes } from './vaults/routes.ts'

export type OpenAIDeps = AgentRouteDeps &
  SessionRouteDeps &
  AutomationRouteDeps &
  FileRouteDeps &
  SkillRouteDeps &
  ArtifactRouteDeps &
  VaultRouteDeps & { databases: Databases; version: string }

export function openaiRoutes(deps: OpenAIDeps): Route[] {
  const routes: Route[] = [
    descriptionRoute('/openai/v1/openapi.json', deps.version, {
      ...surface,
      routes: () => routes,
    }),
    // These routes stand before `/agents/:id`, whose id matches any word.
    ...sessionRoutes(deps),
    ...turnRoutes(),
    ...subagentRoutes(),
    ...traceRoutes(),
    ...artifactRoutes(deps),
    ...automationRoutes(deps),
    ...fileRoutes(deps),
    ...skillRoutes(deps),
    ...templateRoutes(deps),
    ...environmentRoutes(deps),
    ...agentRoutes(deps),
    ...vaultRoutes(deps),
  ]
  return routes
}
