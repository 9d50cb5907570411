/**
 * The environment of a session on this wire: an environment of the workspace, or one that belongs to the session alone.
 */
import type {
  EnvironmentCreate,
  EnvironmentRecord,
  SetupCommand,
} from '@steward/protocol/environments.ts'
import { emptyEnvironment } from '@steward/protocol/environments.ts'
import type {
  OpenAIEnvironment,
  OpenAIEnvironmentParam,
  OpenAIHostedParam,
} from '@steward/protocol/openai/environments.ts'
import { isNone, noneMark } from '@steward/protocol/openai/environments.ts'
import type { Session } from '@steward/protocol/sessions.ts'
import type { Queries } from '../../../ground/database/database.ts'
import { toEnvironmentRecord, updateRecord } from '../../../resources/environments/record.ts'
import { archivedEnvironment, environmentStore } from '../../../resources/environments/store.ts'
import { ownName } from '../environments/find.ts'
import type { NamedFiles } from '../environments/mounts.ts'
import { checkSetup, noMounts, toSetup } from '../environments/mounts.ts'
import type { WordsOfSkill } from '../environments/skill-words.ts'

/** The folder of outputs that clients of this wire know. */
export const openaiOutputs = '/workspace/outputs'

export const noEnvironment: Omit<EnvironmentRecord, 'name'> = {
  ...emptyEnvironment,
  limited: true,
  allow_mcp_servers: true,
  metadata: noneMark,
}

type HostedFields = Pick<OpenAIHostedParam, 'env' | 'network' | 'packages'>
/** The environment of a request with files that have an id each. */
export type NamedEnvironment =
  | Extract<OpenAIEnvironmentParam, { type: 'none' }>
  | NamedFiles<OpenAIHostedParam>

/** The given fields of an environment; absent fields stay absent. */
export function toEnvironmentFields({
  env,
  network,
  packages,
}: HostedFields): Omit<EnvironmentCreate, 'name'> {
  return {
    ...(env === undefined ? {} : { env }),
    ...(network ? { network: { denylist: network.blocked_domains ?? [] } } : {}),
    ...(network || packages ? { config: configOf({ network, packages }) } : {}),
  }
}

const configOf = ({ network, packages }: HostedFields) => ({
  type: 'cloud' as const,
  ...(network ? { networking: networkingOf(network, packages) } : {}),
  ...(packages
    ? { packages: { npm: packages.npm, pip: packages.python, apt: packages.system } }
    : {}),
})

function networkingOf(
  { access, allowed_domains }: NonNullable<HostedFields['network']>,
  packages: HostedFields['packages'],
) {
  if (access === 'enabled') return { type: 'unrestricted' as const }
  return {
    type: 'limited' as const,
    allowed_hosts: access === 'restricted' ? (allowed_domains ?? []) : [],
    allow_mcp_servers: true,
    allow_package_managers: Boolean(packages),
  }
}

export const isPlain = ({
  setup_commands,
  env,
  network,
  packages,
}: HostedFields & Pick<OpenAIHostedParam, 'setup_commands'>): boolean =>
  [env, network, packages].every((field) => (field ?? null) === null) && !setup_commands?.length

/**
 * The environment that is created for the session alone; undefined when the session uses an environment of the
 * workspace unchanged.
 */
async function ownRecord(
  tx: Queries,
  tenant: string,
  given: NamedEnvironment,
  name: string,
): Promise<EnvironmentRecord | undefined> {
  if (given.type === 'none') return { ...noEnvironment, name }
  const id = namedBy(given)
  const own = toSetup(given.setup_commands)
  if (id === undefined)
    return withSetup(toEnvironmentRecord({ name, ...toEnvironmentFields(given) }), own)
  const { record, archived } = await environmentStore(tx).getOpenForShare(tenant, id)
  if (archived) throw archivedEnvironment(id)
  const setup = [...(record.mounts?.setup ?? []), ...own]
  const made = withSetup({ ...updateRecord(record, toEnvironmentFields(given)), name }, setup)
  checkSetup(made, 'environment.setup_commands')
  return isPlain(given) ? undefined : made
}

/** The session has its files, skills and vaults itself. */
const withSetup = (record: EnvironmentRecord, setup: SetupCommand[]): EnvironmentRecord => ({
  ...record,
  mounts: setup.length > 0 ? { ...noMounts, setup } : undefined,
})

export const namedBy = ({
  environment_id,
  environment_template_id,
}: Pick<OpenAIHostedParam, 'environment_id' | 'environment_template_id'>) =>
  environment_id ?? environment_template_id

/** Returns the id of the environment. `isOwn`: the environment belongs to the session alone. */
export async function makeEnvironment(
  tx: Queries,
  tenant: string,
  given: NamedEnvironment,
  { id: session, now }: { id: string; now: number },
): Promise<{ id: string; isOwn: boolean }> {
  const record = await ownRecord(tx, tenant, given, ownName(session))
  if (record) {
    const { id } = await environmentStore(tx).create(tenant, record, now)
    return { id, isOwn: true }
  }
  const id = given.type === 'none' ? undefined : namedBy(given)
  return { id: id ?? '', isOwn: false }
}

export function showNetwork({ limited, allowlist }: EnvironmentRecord) {
  const allowed = limited ? (allowlist.length > 0 ? 'restricted' : 'disabled') : 'enabled'
  return { access: allowed, allowed_domains: limited ? allowlist : [] } as const
}

export const showPackages = ({ packages: { npm, pip, apt } }: EnvironmentRecord) => ({
  npm,
  python: pip,
  system: apt,
})

export function showEnvironment(
  record: EnvironmentRecord,
  { environment_id: id, resources, agent }: Session,
  { sizes, skillWords }: { sizes: ReadonlyMap<string, number>; skillWords: WordsOfSkill },
): OpenAIEnvironment {
  if (isNone(record)) return { type: 'none' }
  return {
    type: 'openai_hosted',
    id,
    network: showNetwork(record),
    packages: showPackages(record),
    files: resources.flatMap((resource) => {
      if (resource.type !== 'file') return []
      const { id: of, file_id, mount_path: path } = resource
      const size_bytes = sizes.get(file_id) ?? 0
      return [{ id: of, type: 'file_id' as const, file_id, path, size_bytes }]
    }),
    skills: agent.skills.map(({ skill_id, version }) => ({
      type: 'skill_reference' as const,
      skill_id,
      ...skillWords({ skill_id, version }),
    })),
    plugins: [],
    capability_directories: [],
  }
}
