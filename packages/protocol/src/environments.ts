import { z } from 'zod'
import type { PackageLists } from './packages.ts'
import { packageManagers, Packages } from './packages.ts'
import {
  ArchivedAt,
  CreatedAt,
  Line,
  ListQuery,
  Metadata,
  MetadataPatch,
  ProcessText,
  UpdatedAt,
  extension,
  includeArchived,
} from './primitives.ts'

/** A hostname or `*.suffix`: no scheme, port or path. */
export const Host = z
  .string()
  .max(255)
  .regex(/^(\*\.)?[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/i, {
    message: 'must be a hostname or *.suffix, without scheme, port or path',
  })

const Networking = z.discriminatedUnion('type', [
  z
    .strictObject({ type: z.literal('unrestricted') })
    .meta({ id: 'UnrestrictedNetwork', description: 'Every public host is reached.' }),
  z
    .strictObject({
      type: z.literal('limited'),
      allowed_hosts: z
        .array(Host)
        .nullish()
        .describe('Hosts that a sandbox reaches: `example.com`, or `*.example.com`.'),
      allow_mcp_servers: z.boolean().nullish().describe('Whether MCP servers are reached.'),
      allow_package_managers: z
        .boolean()
        .nullish()
        .describe('Whether the registries of package managers are reached.'),
    })
    .meta({ id: 'LimitedNetwork', description: 'Only the named hosts are reached.' }),
])

/** The longest time that compute may need from its start to its first heartbeat. */
const longestReclaimMs = 60 * 60 * 1000

const Config = z.discriminatedUnion('type', [
  z
    .strictObject({
      type: z.literal('self_hosted'),
      reclaim_older_than_ms: z
        .int()
        .min(1)
        .max(longestReclaimMs)
        .nullish()
        .meta(extension('Milliseconds until an item that no worker acknowledged is given again.')),
    })
    .meta({ id: 'SelfHostedConfig', description: 'Sessions run on workers of your own.' }),
  z
    .strictObject({
      type: z.literal('cloud'),
      networking: Networking.nullish().describe(
        'Which hosts a sandbox reaches; every public host when absent.',
      ),
      packages: Packages.nullish(),
    })
    .meta({ id: 'CloudConfig', description: 'Sessions run in sandboxes of this service.' }),
])

const name = Line.min(1)
  .max(256)
  .describe('Unique among the environments of the workspace that are not archived.')
const variable = /^[A-Za-z_][A-Za-z0-9_]*$/
const fields = {
  name,
  description: z.string().max(4096).nullish().describe('What the environment is for.'),
  base_image: z
    .string()
    .min(1)
    .nullish()
    .meta(extension("A container image, or the name of one of the operator's root folders.")),
  packages: Packages.nullish().meta(extension('The same as `config.packages`.')),
  network: z
    .strictObject({
      allowlist: z.array(Host).optional().describe('The same as `allowed_hosts` of the config.'),
      denylist: z.array(Host).optional().describe('Hosts that are never reached.'),
    })
    .nullish()
    .meta(extension('Which hosts a sandbox reaches.')),
  env: z
    .record(z.string().regex(variable, 'must be a variable name'), ProcessText)
    .nullish()
    .meta(extension('Variables of every command in the sandbox.')),
  allow_mcp_servers: z
    .boolean()
    .nullish()
    .meta(extension('The same as `allow_mcp_servers` of the config.')),
  config: Config.nullish().describe('Where sessions run; its `type` cannot change.'),
  metadata: Metadata.nullish(),
  scope: z.enum(['organization', 'account']).nullish().describe('Kept and returned.'),
}

/**
 * Takes both spellings: the interface's fields at the top level, and the official client's `config`.
 * [environments/two-spellings]
 */
export const EnvironmentCreate = z.strictObject(fields).meta({
  id: 'EnvironmentCreateParams',
  examples: [
    {
      name: 'python',
      config: {
        type: 'cloud',
        networking: {
          type: 'limited',
          allowed_hosts: ['api.example.com'],
          allow_package_managers: true,
        },
      },
    },
  ],
})
export type EnvironmentCreate = z.infer<typeof EnvironmentCreate>

export const EnvironmentUpdate = z
  .strictObject({ ...fields, name: name.optional(), metadata: MetadataPatch.nullish() })
  .meta({
    id: 'EnvironmentUpdateParams',
    examples: [{ description: 'For scripts in Python', metadata: { team: 'data' } }],
  })
export type EnvironmentUpdate = z.infer<typeof EnvironmentUpdate>

/** The stored form. Replies show both spellings of it. */
export type EnvironmentRecord = {
  name: string
  description: string | null
  kind: 'cloud' | 'self_hosted'
  /** The least time for which a claimed work item is hidden from other workers. */
  reclaim_older_than_ms?: number | undefined
  base_image: string | null
  packages: PackageLists
  limited: boolean
  allowlist: string[]
  denylist: string[]
  allow_mcp_servers: boolean
  allow_package_managers: boolean
  env: Record<string, string>
  metadata: Record<string, string>
  scope: 'organization' | 'account'
  /** Files, skills, commands and vaults for sessions that are created on `/openai/v1` with the environment. */
  mounts?: EnvironmentMounts | undefined
}

export type EnvironmentMounts = {
  files: { file_id: string; path: string }[]
  /** `version`: null for the newest version. */
  skills: { skill_id: string; version: string | null }[]
  /** Commands that run in order before the first command of a session. */
  setup?: SetupCommand[]
  vault_ids?: string[]
}

/** `cwd`: an absolute path inside. */
export type SetupCommand = { command: string; cwd: string }

export const emptyEnvironment: Omit<EnvironmentRecord, 'name'> = {
  description: null,
  kind: 'cloud',
  base_image: null,
  packages: { apt: [], cargo: [], gem: [], go: [], npm: [], pip: [] },
  limited: false,
  allowlist: [],
  denylist: [],
  allow_mcp_servers: false,
  allow_package_managers: false,
  env: {},
  metadata: {},
  scope: 'organization',
}

export function foldPackages(kept: PackageLists, input: Packages | null): PackageLists {
  if (input === null) return emptyEnvironment.packages
  const folded = { ...kept }
  for (const manager of packageManagers) {
    const wanted = input[manager]
    if (wanted !== undefined) folded[manager] = wanted ?? []
  }
  return folded
}

/** The fields of a reply, except for id, times and archive mark: the record in both spellings. */
export function showEnvironment(record: EnvironmentRecord) {
  const { kind, limited, allowlist, denylist, allow_package_managers, ...rest } = record
  const { reclaim_older_than_ms, mounts: _mounts, ...shown } = rest
  const networking = limited
    ? {
        type: 'limited' as const,
        allowed_hosts: allowlist,
        allow_mcp_servers: record.allow_mcp_servers,
        allow_package_managers,
      }
    : { type: 'unrestricted' as const }
  const config =
    kind === 'self_hosted'
      ? { type: kind, ...(reclaim_older_than_ms === undefined ? {} : { reclaim_older_than_ms }) }
      : { type: kind, networking, packages: { type: 'packages' as const, ...record.packages } }
  return { ...shown, network: { allowlist, denylist }, config }
}

export type Environment = ReturnType<typeof showEnvironment> & {
  id: string
  type: 'environment'
  archived_at: string | null
  created_at: string
  updated_at: string
}

export const EnvironmentShown = z
  .looseObject({
    id: z.string(),
    type: z.literal('environment'),
    name: z.string(),
    description: z.string().nullable(),
    config: Config.describe('Where sessions run, on which network and with which packages.'),
    metadata: z.record(z.string(), z.string()),
    scope: z
      .enum(['organization', 'account'])
      .describe('As it was sent; `organization` when it was absent.'),
    base_image: z.string().nullable().meta(extension('What the sandbox starts from.')),
    network: z
      .object({
        allowlist: z.array(z.string()).describe('Hosts that a limited sandbox reaches.'),
        denylist: z.array(z.string()).describe('Hosts that are never reached.'),
      })
      .meta(extension('Which hosts a sandbox reaches.')),
    packages: z
      .record(z.string(), z.array(z.string()))
      .meta(extension('The packages to install, by manager.')),
    allow_mcp_servers: z
      .boolean()
      .meta(extension('Whether a limited sandbox reaches the MCP servers of its agent.')),
    env: z.record(z.string(), z.string()).meta(extension('Variables of every command.')),
    archived_at: ArchivedAt,
    created_at: CreatedAt,
    updated_at: UpdatedAt,
  })
  .meta({ id: 'Environment', description: 'Where the commands of a session run.' })

export const EnvironmentListQuery = ListQuery.extend({ include_archived: includeArchived })
