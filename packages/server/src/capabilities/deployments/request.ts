/** The request that creates a session of a deployment. */
import type { DeploymentResource } from '@steward/protocol/deployments.ts'
import type { Seal, Sealed } from '../../ground/core/security/seal.ts'
import type { SessionRequest } from '../../sessions/create.ts'
import type { DeploymentRow } from './store.ts'
import { deploymentTokenContext } from './store.ts'

type DeploymentRecipe = Pick<
  DeploymentRow,
  'tenant_id' | 'id' | 'name' | 'agent_id' | 'agent_version' | 'environment_id' | 'spec'
> & { sealed_tokens: Record<string, Sealed> | null }

export function buildSessionRequest(seal: Seal, row: DeploymentRecipe): SessionRequest {
  const { spec, sealed_tokens } = row
  const resources = spec.resources.map((resource, index) => {
    const sealed = sealed_tokens?.[index]
    if (resource.type !== 'github_repository' || !sealed) return resource
    const context = deploymentTokenContext(row.tenant_id, row.id, String(index))
    return { ...resource, authorization_token: seal.open(sealed, context) }
  })
  const { overrides } = spec
  const agent = { id: row.agent_id, version: row.agent_version }
  return {
    agent: overrides
      ? { type: 'agent_with_overrides', ...agent, tools: overrides.tools, skills: overrides.skills }
      : { type: 'agent', ...agent },
    metadata: overrides?.metadata ?? {},
    environment_id: row.environment_id,
    title: row.name,
    initial_events: spec.initial_events,
    resources,
    vault_ids: spec.vault_ids,
    budget: spec.budget,
    outputsPath: overrides?.outputsPath,
  }
}

/** Moves tokens out of the resources, which answers show, into sealed values. */
export function sealTokens(
  seal: Seal,
  { tenant, id }: { tenant: string; id: string },
  resources: readonly DeploymentResource[],
): { resources: DeploymentResource[]; sealed_tokens: Record<string, Sealed> | null } {
  const tokens: Record<string, Sealed> = {}
  const shown = resources.map((resource, index) => {
    if (resource.type !== 'github_repository') return resource
    const { authorization_token, ...rest } = resource
    const name = String(index)
    if (authorization_token)
      tokens[name] = seal.seal(authorization_token, deploymentTokenContext(tenant, id, name))
    return rest
  })
  return { resources: shown, sealed_tokens: Object.keys(tokens).length > 0 ? tokens : null }
}
