/** What a form of an environment holds: the fields of a request, as they are sent. */
import type {
  Environment,
  EnvironmentCreateBody,
  EnvironmentUpdateBody,
} from '../../lib/api/types.ts'
import { changesIn, isSame } from '../../lib/changes.ts'
import { keysOf } from '../../lib/keys-of.ts'

export type EnvironmentDraft = Partial<EnvironmentCreateBody>
type DraftConfig = NonNullable<EnvironmentDraft['config']>
export type CloudConfig = Extract<DraftConfig, { type: 'cloud' }>
export type LimitedNetwork = Extract<NonNullable<CloudConfig['networking']>, { type: 'limited' }>

export const managers = ['pip', 'npm', 'apt', 'cargo', 'gem', 'go'] as const
export type DraftManager = (typeof managers)[number]

/** The fields that the form shows: refusals of the service stand under them. */
export const draftFields = [
  'name',
  'description',
  'config',
  'base_image',
  'network',
  'allow_mcp_servers',
  'env',
  'metadata',
] as const satisfies readonly (keyof EnvironmentDraft)[]

export const newDraft: EnvironmentDraft = {
  name: '',
  config: { type: 'cloud', networking: { type: 'unrestricted' } },
}

export const cloudOf = ({ config }: EnvironmentDraft): CloudConfig | undefined =>
  config?.type === 'cloud' ? config : undefined

export const limitedOf = (draft: EnvironmentDraft): LimitedNetwork | undefined => {
  const networking = cloudOf(draft)?.networking
  return networking?.type === 'limited' ? networking : undefined
}

/** Every package with its manager. */
export const packagesOf = (draft: EnvironmentDraft) =>
  managers.flatMap((manager) =>
    (cloudOf(draft)?.packages?.[manager] ?? []).map((name) => ({ manager, name })),
  )

const filled = <Value extends object>(value: Value): Value | undefined =>
  Object.keys(value).length > 0 ? value : undefined

function configOf({ config }: Environment): DraftConfig {
  if (config.type !== 'cloud') return config
  const { packages, networking } = config
  const named = filled(
    Object.fromEntries(
      managers.flatMap((manager) => {
        const names = packages?.[manager] ?? []
        return names.length > 0 ? [[manager, names] as const] : []
      }),
    ),
  )
  return { type: 'cloud', networking, ...(named && { packages: named }) }
}

/** The lists that `config` does not have: hosts that are denied, and for workers all of them. */
function networkOf({ config, network }: Environment): EnvironmentDraft['network'] {
  const { allowlist, denylist } = network
  return filled({
    ...(config.type === 'self_hosted' && allowlist.length > 0 && { allowlist }),
    ...(denylist.length > 0 && { denylist }),
  })
}

/** An environment as a form begins with it. Fields that were never set are left out. */
export function draftOf(environment: Environment): EnvironmentDraft {
  const { name, description, base_image, env, metadata } = environment
  const network = networkOf(environment)
  const isSelfHosted = environment.config.type === 'self_hosted'
  return {
    name,
    ...(description !== null && description !== '' && { description }),
    config: configOf(environment),
    ...(base_image !== null && { base_image }),
    ...(network && { network }),
    ...(isSelfHosted && environment.allow_mcp_servers && { allow_mcp_servers: true }),
    ...(filled(env) && { env }),
    ...(filled(metadata) && { metadata }),
  }
}

const closed = { allowed_hosts: [], allow_mcp_servers: false, allow_package_managers: false }

/** What an update says of the config: a list that is left out would stay. */
function configChange(before: DraftConfig | null | undefined, config: DraftConfig): DraftConfig {
  if (config.type !== 'cloud') return config
  const from = before?.type === 'cloud' ? before : undefined
  const { networking, packages } = config
  const removed = managers.filter((manager) => from?.packages?.[manager] && !packages?.[manager])
  return {
    type: 'cloud',
    ...(!isSame(from?.networking, networking) && {
      networking:
        networking?.type === 'limited'
          ? { ...closed, ...networking }
          : { type: 'unrestricted' as const },
    }),
    ...(!isSame(from?.packages, packages) && {
      packages: { ...Object.fromEntries(removed.map((manager) => [manager, []])), ...packages },
    }),
  }
}

/** What the form changes, as an update says it: what is absent there stays. */
export function updateOf(before: EnvironmentDraft, draft: EnvironmentDraft): EnvironmentUpdateBody {
  const { config, network, env, metadata, allow_mcp_servers, ...plain } =
    changesIn<EnvironmentDraft>(draftFields, before, draft)
  const gone = keysOf(before.metadata ?? {}).filter((key) => draft.metadata?.[key] === undefined)
  return {
    ...plain,
    ...(config && { config: configChange(before.config, config) }),
    ...(config === null && { config }),
    ...(network !== undefined && { network: networkChange(before, network) }),
    ...(allow_mcp_servers !== undefined && { allow_mcp_servers: allow_mcp_servers ?? false }),
    ...(env !== undefined && { env: env ?? {} }),
    ...(metadata !== undefined && {
      metadata: { ...Object.fromEntries(gone.map((key) => [key, null])), ...metadata },
    }),
  }
}

type DraftNetwork = EnvironmentDraft['network']

/** Null would open the network again: a list that was removed is empty. */
const networkChange = ({ network }: EnvironmentDraft, next: DraftNetwork): DraftNetwork => ({
  ...(network?.allowlist && { allowlist: [] }),
  ...(network?.denylist && { denylist: [] }),
  ...next,
})

/** Without what is empty, as a person would write it. */
export const bodyOf = ({ name = '', ...draft }: EnvironmentDraft): EnvironmentCreateBody => ({
  name,
  ...Object.fromEntries(
    Object.entries(draft).filter(([, value]) => value !== '' && value !== null),
  ),
})

/** What each part of the form has. */
export type DraftPartProps = {
  draft: EnvironmentDraft
  onDraft: (draft: EnvironmentDraft) => void
  /** What the service says of it. */
  problem?: string | undefined
}
