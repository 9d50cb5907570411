/** Both spellings of an environment folded into the one stored record. [environments/two-spellings] */
import type {
  EnvironmentCreate,
  EnvironmentRecord,
  EnvironmentUpdate,
} from '@steward/protocol/environments.ts'
import { emptyEnvironment, foldPackages } from '@steward/protocol/environments.ts'
import { invalid } from '../../ground/core/errors.ts'
import { mergeMetadata } from '../../ground/core/metadata.ts'

export const recordOf = (input: EnvironmentCreate): EnvironmentRecord =>
  fold({ ...emptyEnvironment, name: input.name, kind: input.config?.type ?? 'cloud' }, input)

/** Omitted keeps, also below `config`; the type of `config` stays what it was. */
export function updatedRecord(
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

/** What workers of the environment are held to; null clears. */
function poolOf(config: EnvironmentUpdate['config']): Partial<EnvironmentRecord> {
  if (config?.type !== 'self_hosted' || config.reclaim_older_than_ms === undefined) return {}
  return { reclaim_older_than_ms: config.reclaim_older_than_ms ?? undefined }
}

/** Null clears a field that may be empty; an empty description is a text like any other. */
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
 * The interface's spelling: a list of hosts limits, an empty one does not. Written back as it was read, it changes
 * nothing: an environment that reaches nothing at all shows an empty list too.
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

/** The official client's spelling. */
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

/** An empty text deletes a key of an environment's metadata, as null does. */
const nullForEmpty = (patch: Record<string, string | null>): Record<string, string | null> =>
  Object.fromEntries(Object.entries(patch).map(([key, value]) => [key, value || null]))
