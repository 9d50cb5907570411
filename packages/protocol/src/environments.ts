import { z } from 'zod'
import type { PackageLists } from './packages.ts'
import { packageManagers, Packages } from './packages.ts'
import {
  Flag,
  Line,
  ListQuery,
  Metadata,
  MetadataPatch,
  ProcessText,
  Timestamp,
} from './primitives.ts'

/** A hostname or `*.suffix`: no scheme, port or path. */
const Host = z
  .string()
  .max(255)
  .regex(/^(\*\.)?[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/i, {
    message: 'a hostname or *.suffix, without scheme, port or path',
  })

const Networking = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('unrestricted') }),
  z.strictObject({
    type: z.literal('limited'),
    allowed_hosts: z.array(Host).nullish(),
    allow_mcp_servers: z.boolean().nullish(),
    allow_package_managers: z.boolean().nullish(),
  }),
])

/** As long as compute may take to start before its first heartbeat. */
const longestReclaimMs = 60 * 60 * 1000

const Config = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('self_hosted'),
    /** Milliseconds; the least that polls may name. */
    reclaim_older_than_ms: z.int().min(1).max(longestReclaimMs).nullish(),
  }),
  z.strictObject({
    type: z.literal('cloud'),
    networking: Networking.nullish(),
    packages: Packages.nullish(),
  }),
])

const name = Line.min(1).max(256)
const variable = /^[A-Za-z_][A-Za-z0-9_]*$/
const fields = {
  name,
  description: z.string().max(4096).nullish(),
  base_image: z.string().min(1).nullish(),
  packages: Packages.nullish(),
  network: z
    .strictObject({ allowlist: z.array(Host).optional(), denylist: z.array(Host).optional() })
    .nullish(),
  env: z.record(z.string().regex(variable, 'a variable name'), ProcessText).nullish(),
  allow_mcp_servers: z.boolean().nullish(),
  config: Config.nullish(),
  metadata: Metadata.nullish(),
  scope: z.enum(['organization', 'account']).nullish(),
}

/** Both spellings: the interface's top level and the official client's `config`. [environments/two-spellings] */
export const EnvironmentCreate = z.strictObject(fields)
export type EnvironmentCreate = z.infer<typeof EnvironmentCreate>

export const EnvironmentUpdate = z.strictObject({
  ...fields,
  name: name.optional(),
  metadata: MetadataPatch.nullish(),
})
export type EnvironmentUpdate = z.infer<typeof EnvironmentUpdate>

/** The one stored form, from which both spellings are shown. */
export type EnvironmentRecord = {
  name: string
  description: string | null
  kind: 'cloud' | 'self_hosted'
  /** How long an item of work that was handed out stays hidden at least. */
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
}

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

/** What a reply carries besides id, times and archive mark: the record in both spellings. */
export function showEnvironment(record: EnvironmentRecord) {
  const { kind, limited, allowlist, denylist, allow_package_managers, ...rest } = record
  const { reclaim_older_than_ms, ...shown } = rest
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

export const EnvironmentShown = z.looseObject({
  id: z.string(),
  type: z.literal('environment'),
  name: z.string(),
  description: z.string().nullable(),
  config: z.looseObject({ type: z.enum(['cloud', 'self_hosted']) }),
  metadata: z.record(z.string(), z.string()),
  archived_at: Timestamp.nullable(),
  created_at: Timestamp,
  updated_at: Timestamp,
})

export const EnvironmentListQuery = ListQuery.extend({ include_archived: Flag.optional() })
