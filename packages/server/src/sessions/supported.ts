/** What a session of this version cannot run is refused by name, at its creation and never later. */
import type { EnvironmentRecord } from '@steward/protocol/environments.ts'
import type { PackageManager } from '@steward/protocol/packages.ts'
import { packageManagers } from '@steward/protocol/packages.ts'
import type { SessionAgent, SessionCreate } from '@steward/protocol/sessions.ts'
import type { Tools } from '@steward/protocol/tools.ts'
import { invalid, unsupported } from '../core/errors.ts'
import type { Wanted } from './resources/add.ts'

export function checkAgent(agent: SessionAgent): void {
  for (const [index, { url }] of agent.mcp_servers.entries()) {
    if (!url)
      throw invalid(
        `agent.mcp_servers.${index}.url: url is required: this service starts no stdio servers`,
      )
  }
  checkUrlSources(agent.tools)
}

/** Where a page's address may come from is not followed: anything but everywhere would be a promise not kept. */
function checkUrlSources(tools: Tools): void {
  for (const [index, tool] of tools.entries()) {
    if (tool.type !== 'agent_toolset_20260401') continue
    for (const { name, url_sources } of tool.configs ?? []) {
      for (const [source, value] of Object.entries(url_sources ?? {})) {
        const type = typeof value === 'string' ? value : value?.type
        if (type === undefined || type === 'all') continue
        throw unsupported(
          `agent.tools.${index}.configs.${name}.url_sources.${source}`,
          `${type} is`,
        )
      }
    }
  }
}

/** Why sandboxes of this service do not start from an image; undefined where it may be tried. */
export type RefuseImage = (reference: string) => string | undefined

/** Why packages of this manager cannot be installed in sandboxes that start from this image; undefined where they can. */
export type RefusePackages = (
  manager: PackageManager,
  image: string | undefined,
) => string | undefined

export type Refusals = { refuseImage: RefuseImage; refusePackages: RefusePackages }

export function checkEnvironment(
  record: EnvironmentRecord,
  { refuseImage, refusePackages }: Refusals,
): void {
  const refused = record.base_image === null ? undefined : refuseImage(record.base_image)
  if (refused !== undefined) throw invalid(`environment.base_image: ${refused}`)
  for (const manager of packageManagers) {
    if (record.packages[manager].length === 0) continue
    const why = refusePackages(manager, record.base_image ?? undefined)
    if (why !== undefined) throw invalid(`environment.packages.${manager}: ${why}`)
  }
}

/**
 * What the worker of the official client does not do, on an environment whose workers are such: it lays no files and no
 * repositories out, and runs no tools but its own. contract.md 4.6
 */
export function checkForWorker(agent: SessionAgent, wanted: readonly Wanted[]): void {
  for (const { resource, at } of wanted)
    if (resource.type !== 'memory_store')
      throw invalid(
        `${at.slice(0, -1)}: nothing lays a ${resource.type} out on a self_hosted environment`,
      )
  for (const [index, tool] of agent.tools.entries())
    if (tool.type === 'custom' && tool.execution?.type === 'sandbox')
      throw invalid(
        `agent.tools.${index}.execution: sandbox tools do not run on a self_hosted environment`,
      )
}

/** Those that can be brought in, each with its place in the request; the agent's own store last, unless it is named. */
export function resourcesOf(
  { resources }: SessionCreate,
  { memory_store_id }: SessionAgent,
): Wanted[] {
  const wanted = (resources ?? []).map((resource, index): Wanted => ({
    resource,
    at: `resources.${index}.`,
  }))
  const isNamed = wanted.some(
    ({ resource }) =>
      resource.type === 'memory_store' && resource.memory_store_id === memory_store_id,
  )
  if (memory_store_id === null || isNamed) return wanted
  return [...wanted, { resource: { type: 'memory_store', memory_store_id }, at: 'agent.' }]
}
