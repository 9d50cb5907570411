/** The table of contents of `/openai/v1`: the wire of the OpenAI Agents API over the functions that `/v1` uses. */
import { descriptionRoute } from '../../ground/http/openapi/openapi.ts'
import type { Route } from '../../ground/http/route.ts'
import { agentRoutes } from './agents/routes.ts'
import { artifactRoutes } from './artifacts/routes.ts'
import { automationRoutes } from './automations/routes.ts'
import { openaiDescription } from './description.ts'
import { environmentRoutes } from './environments/routes.ts'
import { templateRoutes } from './environments/templates.ts'
import { fileRoutes } from './files/routes.ts'
import { sessionRoutes } from './sessions/routes.ts'
import { skillRoutes } from './skills/routes.ts'
import { subagentRoutes } from './subagents/routes.ts'
import { traceRoutes } from './traces/routes.ts'
import { turnRoutes } from './turns/routes.ts'
import { vaultRoutes } from './vaults/routes.ts'
import type { TryReferences } from '../../resources/vaults/admit-references.ts'
import type { OpenSessionDeps } from '../../sessions/open.ts'
import type { UploadLimits } from '../../resources/files/upload.ts'

export type OpenAIDeps = OpenSessionDeps & {
  fileLimits: UploadLimits
  tryReferences: TryReferences
  version: string
}

export function openaiRoutes(deps: OpenAIDeps): Route[] {
  const routes: Route[] = [
    descriptionRoute('/openai/v1/openapi.json', deps.version, {
      ...openaiDescription,
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
