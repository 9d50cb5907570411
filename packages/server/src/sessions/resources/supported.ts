/** Refuses, at its creation, a session that this version cannot run. Errors name the field. */
import type { EnvironmentRecord } from '@steward/protocol/environments.ts'
import type { PackageManager } from '@steward/protocol/packages.ts'
import { packageManagers } from '@steward/protocol/packages.ts'
import type { SessionAgent } from '@steward/protocol/sessions.ts'
import type { Tools } from '@steward/protocol/tools.ts'
import type { WorkerInput } from '../../ground/config/config.ts'
import { invalid, unsupported } from '../../ground/core/errors.ts'
import type { Queries } from '../../ground/database/database.ts'
import { credentialStore } from '../../resources/vaults/credentials.ts'
import type { ResourceRequest } from './kind.ts'
import type { ResourceKinds } from './kinds.ts'

/** `isElsewhere`: a worker runs the session and can start stdio servers. `at`: the agent's place in the request. */
export function checkAgentSupport(agent: SessionAgent, isElsewhere: boolean, at = 'agent'): void {
  for (const [index, { url }] of agent.mcp_servers.entries()) {
    if (!url && !isElsewhere)
      throw invalid(
        `${at}.mcp_servers.${index}: url is required, because this service starts no stdio servers`,
      )
  }
  checkUrlSources(agent.tools, at)
}

/**
 * The source of a fetched URL is not tracked, so every setting other than the default is refused: it would be a promise
 * not kept.
 */
function checkUrlSources(tools: Tools, at: string): void {
  for (const [index, tool] of tools.entries()) {
    if (tool.type !== 'agent_toolset_20260401') continue
    for (const { name, url_sources } of tool.configs ?? []) {
      for (const [source, value] of Object.entries(url_sources ?? {})) {
        const type = typeof value === 'string' ? value : value?.type
        if (type === undefined || type === 'all') continue
        throw unsupported(
          `${at}.tools.${index}.configs.${name}.url_sources.${source}`,
          `${type} is`,
        )
      }
    }
  }
}

/** Why sandboxes of this service cannot start from an image; undefined when it may be tried. */
export type RefuseImage = (reference: string) => string | undefined

/** Why this manager cannot install packages in sandboxes of this image; undefined when it can. */
export type RefusePackages = (
  manager: PackageManager,
  image: string | undefined,
) => string | undefined

export type Refusals = {
  /** Why the service starts no sandboxes; undefined when it does. */
  noSandboxes?: string
  refuseImage: RefuseImage
  refusePackages: RefusePackages
  /** Inputs that workers mount besides skills and memory stores. */
  workerInputs: readonly WorkerInput[]
}

export function checkEnvironmentSupport(
  record: EnvironmentRecord,
  { noSandboxes, refuseImage, refusePackages }: Refusals,
): void {
  if (noSandboxes !== undefined) throw invalid(`environment_id: ${noSandboxes}`)
  const refused = record.base_image === null ? undefined : refuseImage(record.base_image)
  if (refused !== undefined) throw invalid(`environment.base_image: ${refused}`)
  for (const manager of packageManagers) {
    if (record.packages[manager].length === 0) continue
    const why = refusePackages(manager, record.base_image ?? undefined)
    if (why !== undefined) throw invalid(`environment.packages.${manager}: ${why}`)
  }
}

/**
 * The official client's worker mounts skills and memory stores. The operator says which other inputs workers mount.
 * [worker/input/refused]
 */
export function checkInputs(
  kinds: ResourceKinds,
  wanted: readonly ResourceRequest[],
  inputs: readonly WorkerInput[],
): void {
  for (const { resource, at } of wanted) {
    const { workerInput } = kinds[resource.type]
    if (workerInput === null || inputs.includes(workerInput)) continue
    throw invalid(
      `${at.slice(0, -1) || 'type'}: the workers of this self_hosted environment cannot mount a ${resource.type}; if they can, set WORKER_INPUTS=${workerInput} on the server`,
    )
  }
}

/** Workers run only the built-in tools. */
export function checkToolsForWorker({ tools }: SessionAgent, at = 'agent'): void {
  for (const [index, tool] of tools.entries())
    if (tool.type === 'custom' && tool.execution?.type === 'sandbox')
      throw invalid(
        `${at}.tools.${index}.execution: the tool ${tool.name} runs in a sandbox of the service, which a self_hosted environment does not have`,
      )
}

/** Refuses vaults with command secrets: a vault's secrets never reach a worker's sandbox, where the commands run. */
export async function checkVaultForWorker(
  tx: Queries,
  tenant: string,
  vault: string,
  at: string,
): Promise<void> {
  const all = await credentialStore(tx).allActive(tenant, vault)
  const found = all.find(({ auth }) => auth.type === 'command_secret')
  if (found)
    throw invalid(
      `${at}: the command_secret ${found.id} of vault ${vault} cannot be used on a self_hosted environment: its commands run on workers, which get no secrets of vaults`,
    )
}
