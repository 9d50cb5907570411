/** The error of a run whose deployment could not create a session. */
import type { RunErrorType } from '@steward/protocol/deployments.ts'
import type { ResourceType } from '@steward/protocol/session-resources.ts'
import { PlatformError } from '../../ground/core/errors.ts'
import type { Reads } from '../../ground/database/database.ts'
import { rows } from '../../ground/database/rows.ts'
import type { OpenSessionDeps } from '../../sessions/open.ts'
import type { Absence } from '../../sessions/resources/kind.ts'
import { kindOf } from '../../sessions/resources/kinds.ts'
import { checkInputs } from '../../sessions/resources/supported.ts'
import type { DeploymentRow } from './store.ts'

/** Names the first missing resource; without one, the error itself. */
export async function findRunErrorType(
  deps: OpenSessionDeps,
  read: Reads,
  row: DeploymentRow,
  error: PlatformError,
): Promise<RunErrorType> {
  const isLimited =
    error.kind === 'rate_limited' || error.details?.['error_code'] === 'quota_exceeded'
  if (isLimited) return 'session_rate_limited_error'
  if (row.spec.session_id !== undefined)
    return error.kind === 'not_found'
      ? 'session_resource_not_found_error'
      : 'session_creation_rejected_error'
  const found =
    (await agentOrEnvironment(deps, read, row)) ??
    (await missingVault(read, row)) ??
    (await missingResource(deps, read, row))
  if (found) return found
  if (/^(skill|skills)\b/.test(error.message)) return 'skill_not_found_error'
  const isFile = error.kind === 'not_found' || error.details?.['error_code'] === 'file_expired'
  return isFile ? 'file_not_found_error' : 'session_creation_rejected_error'
}

async function agentOrEnvironment(
  { kinds, workerInputs }: OpenSessionDeps,
  read: Reads,
  { tenant_id: tenant, agent_id, environment_id, spec }: DeploymentRow,
): Promise<RunErrorType | undefined> {
  const agent = await rows(read, 'agents').find(tenant, agent_id)
  if (agent?.archived_at) return 'agent_archived_error'
  const environment = await rows(read, 'environments').find(tenant, environment_id)
  if (!environment) return 'environment_not_found_error'
  if (environment.archived_at !== null) return 'environment_archived_error'
  if (environment.record.kind !== 'self_hosted') return undefined
  const wanted = spec.resources.map((resource, index) => ({ resource, at: `resources.${index}.` }))
  try {
    checkInputs(kinds, wanted, workerInputs)
    return undefined
  } catch (error) {
    if (error instanceof PlatformError) return 'self_hosted_resources_unsupported_error'
    throw error
  }
}

async function missingVault(
  read: Reads,
  { tenant_id: tenant, spec }: DeploymentRow,
): Promise<RunErrorType | undefined> {
  for (const id of spec.vault_ids) {
    const vault = await rows(read, 'vaults').find(tenant, id)
    if (!vault) return 'vault_not_found_error'
    if (vault.archived_at !== null) return 'vault_archived_error'
  }
  return undefined
}

/** The run's error for an absent resource, by the kind of absence. A repository is checked only when it is cloned. */
const absences: Record<ResourceType, Record<Absence, RunErrorType>> = {
  file: { missing: 'file_not_found_error', archived: 'file_not_found_error' },
  memory_store: {
    missing: 'session_resource_not_found_error',
    archived: 'memory_store_archived_error',
  },
  github_repository: {
    missing: 'session_resource_not_found_error',
    archived: 'session_resource_not_found_error',
  },
}

async function missingResource(
  { kinds, clock }: OpenSessionDeps,
  read: Reads,
  { tenant_id: tenant, spec }: DeploymentRow,
): Promise<RunErrorType | undefined> {
  const now = clock.now()
  for (const resource of spec.resources) {
    const absence = await kindOf(kinds, resource).findAbsence(read, { tenant, now }, resource)
    if (absence) return absences[resource.type][absence]
  }
  return undefined
}
