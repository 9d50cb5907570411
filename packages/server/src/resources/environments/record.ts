/** Turns both spellings of an environment into one stored record. [environments/two-spellings] */
import type {
  EnvironmentCreate,
  EnvironmentRecord,
  EnvironmentUpdate,
} from '@steward/protocol/environments.ts'
import { emptyEnvironment, foldPackages } from '@steward/protocol/environments.ts'
import { invalid } from '../../ground/core/errors.ts'
import { mergeMetadata } from '../../ground/core/text/metadata.ts'

export const toEnvironmentRecord = (input: EnvironmentCreate): EnvironmentRecord =>
  fold({ ...emptyEnvironment, name: input.name, kind: input.config?.type ?? 'cloud' }, input)

/** A field that is left out stays, also within `config`. The type of `config` never changes. */
export function updateRecord(
  kept: EnvironmentRecord,
  update: EnvironmentUpdate,
): EnvironmentRecord {
  if (update.config && update.config.type !== kept.kind) {
    throw invalid(`config.type: cannot change from ${kept.kind}`, 'invalid_config_type_change')
  }
  return fold(kept, update)
}

function fold(kept: EnvironmentRecord, input: EnvironmentUpdate): EnvironmentRecord {
  const cloud = input.config?.type === 'cloud' ? input.config : undefined
  const next: EnvironmentRecord = {
    ...kept,
    ...textsOf(kept, input),
    env: input.env === undefined ? kept.env : (input.env ?? {}),
    metadata: mergeMetadata(kept.metadata, nullForEmpty(input.metadata ?? {})),
    ...networkOf(kept, input.network),
    ...poolOf(input.config),
  }
  next.allow_mcp_servers = input.allow_mcp_servers ?? kept.allow_mcp_servers
  for (const packages of [input.packages, cloud?.packages]) {
    if (packages !== undefined) next.packages = foldPackages(next.packages, packages)
  }
  return cloud?.networking === undefined
    ? next
    : { ...next, ...networkingOf(next, cloud.networking) }
}

/** Settings for the environment's workers; null clears. */
function poolOf(config: EnvironmentUpdate['config']): Partial<EnvironmentRecord> {
  if (config?.type !== 'self_hosted' || config.reclaim_older_than_ms === undefined) return {}
  return { reclaim_older_than_ms: config.reclaim_older_than_ms ?? undefined }
}

/** Null clears a field that may be empty. An empty description is stored as any other text. */
function textsOf(
  kept: EnvironmentRecord,
  { name, description, base_image, scope }: EnvironmentUpdate,
) {
  return {
    name: name ?? kept.name,
    scope: scope ?? kept.scope,
    description: description === undefined ? kept.description : description,
    base_image: base_image === undefined ? kept.base_image : base_image,
  }
}

/**
 * The interface's spelling: a list of hosts limits the network, an empty list does not. Sending a read record back
 * changes nothing. A network that reaches nothing also shows an empty list, so an unchanged list keeps that.
 */
function networkOf(
  kept: EnvironmentRecord,
  network: EnvironmentUpdate['network'],
): Partial<EnvironmentRecord> {
  if (network === undefined) return {}
  if (network === null) return { allowlist: [], denylist: [], limited: false }
  const { allowlist = kept.allowlist, denylist = kept.denylist } = network
  const isKept = JSON.stringify(allowlist) === JSON.stringify(kept.allowlist)
  return { allowlist, denylist, limited: isKept ? kept.limited : allowlist.length > 0 }
}

type Networking = Extract<NonNullable<EnvironmentUpdate['config']>, { type: 'cloud' }>['networking']

/** The spelling of the official client. */
function networkingOf(kept: EnvironmentRecord, networking: Networking): Partial<EnvironmentRecord> {
  if (!networking || networking.type === 'unrestricted') {
    return {
      limited: false,
      allowlist: [],
      allow_mcp_servers: false,
      allow_package_managers: false,
    }
  }
  return {
    limited: true,
    allowlist:
      networking.allowed_hosts === undefined ? kept.allowlist : (networking.allowed_hosts ?? []),
    allow_mcp_servers: networking.allow_mcp_servers ?? kept.allow_mcp_servers,
    allow_package_managers: networking.allow_package_managers ?? kept.allow_package_managers,
  }
}

/** An empty text deletes a metadata key, like null. */
const nullForEmpty = (patch: Record<string, string | null>): Record<string, string | null> =>
  Object.fromEntries(Object.entries(patch).map(([key, value]) => [key, value || null]))
