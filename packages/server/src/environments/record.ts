/** Both spellings of an environment folded into the one stored record. contract.md 1.2 */
import type {
  EnvironmentCreate,
  EnvironmentRecord,
  EnvironmentUpdate,
} from '@steward/protocol/environments.ts'
import { emptyEnvironment, foldPackages } from '@steward/protocol/environments.ts'
import { invalid } from '../core/errors.ts'

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
    name: input.name ?? kept.name,
    description: input.description === undefined ? kept.description : input.description || null,
    base_image: input.base_image === undefined ? kept.base_image : input.base_image,
    env: input.env === undefined ? kept.env : (input.env ?? {}),
    scope: input.scope ?? kept.scope,
    allow_mcp_servers: input.allow_mcp_servers ?? kept.allow_mcp_servers,
    metadata: patched(kept.metadata, input.metadata ?? {}),
  }
  for (const packages of [input.packages, cloud?.packages]) {
    if (packages !== undefined) next.packages = foldPackages(next.packages, packages)
  }
  if (input.network !== undefined) {
    const { allowlist = kept.allowlist, denylist = kept.denylist } = input.network ?? {
      allowlist: [],
      denylist: [],
    }
    Object.assign(next, { allowlist, denylist, limited: allowlist.length > 0 })
  }
  return cloud?.networking === undefined ? next : { ...next, ...networkOf(next, cloud.networking) }
}

type Networking = Extract<NonNullable<EnvironmentUpdate['config']>, { type: 'cloud' }>['networking']

function networkOf(kept: EnvironmentRecord, networking: Networking): Partial<EnvironmentRecord> {
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

/** A string sets, null and an empty string delete. */
function patched(
  kept: Record<string, string>,
  patch: Record<string, string | null>,
): Record<string, string> {
  const pairs = Object.entries({ ...kept, ...patch }).filter((pair): pair is [string, string] =>
    Boolean(pair[1]),
  )
  if (pairs.length > 16) throw invalid('metadata: at most 16 pairs', 'invalid_metadata')
  return Object.fromEntries(pairs)
}
