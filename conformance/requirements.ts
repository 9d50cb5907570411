// Written by scripts/requirements.ts from docs/interface.md.
import { agents } from './requirements/agents.ts'
import { authentication } from './requirements/authentication.ts'
import { conventions } from './requirements/conventions.ts'
import { credentialProxy } from './requirements/credential-proxy.ts'
import { environments } from './requirements/environments.ts'
import { errors } from './requirements/errors.ts'
import { events } from './requirements/events.ts'
import { files } from './requirements/files.ts'
import { furtherSurfaces } from './requirements/further-surfaces.ts'
import { identitiesOfACompany } from './requirements/identities-of-a-company.ts'
import { limits } from './requirements/limits.ts'
import { mcpServers } from './requirements/mcp-servers.ts'
import { memoryStores } from './requirements/memory-stores.ts'
import { messages } from './requirements/messages.ts'
import { models } from './requirements/models.ts'
import { rulesOfACompany } from './requirements/rules-of-a-company.ts'
import { running } from './requirements/running.ts'
import { sessions } from './requirements/sessions.ts'
import { settings } from './requirements/settings.ts'
import { skills } from './requirements/skills.ts'
import { theOpenaiSurface } from './requirements/the-openai-surface.ts'
import { theService } from './requirements/the-service.ts'
import { tools } from './requirements/tools.ts'
import { vaults } from './requirements/vaults.ts'
import { versions } from './requirements/versions.ts'
import { webhooks } from './requirements/webhooks.ts'
import { workers } from './requirements/workers.ts'
import type { Requirement } from './specification.ts'

const all = {
  ...agents,
  ...authentication,
  ...conventions,
  ...credentialProxy,
  ...environments,
  ...errors,
  ...events,
  ...files,
  ...furtherSurfaces,
  ...identitiesOfACompany,
  ...limits,
  ...mcpServers,
  ...memoryStores,
  ...messages,
  ...models,
  ...rulesOfACompany,
  ...running,
  ...sessions,
  ...settings,
  ...skills,
  ...theOpenaiSurface,
  ...theService,
  ...tools,
  ...vaults,
  ...versions,
  ...webhooks,
  ...workers,
}

export type RequirementId = keyof typeof all

/** Every testable line of docs/interface.md by its id. */
export const requirements: Record<RequirementId, Requirement> = all
