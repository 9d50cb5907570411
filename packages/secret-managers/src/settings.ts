/** What the operator says about secret managers and key services. */
import { AwsCredentials, AzureCredentials, GoogleCredentials } from '@steward/cloud/credentials.ts'
import { parseJsonSetting } from '@steward/protocol/json-setting.ts'
import { SecretManagerName } from '@steward/protocol/secret-references.ts'
import { z } from 'zod'
import { VaultSettings, VaultTransitSettings } from './vault/settings.ts'

const origin = z.string().refine((text) => {
  const url = URL.parse(text)
  const isPlain = url?.pathname === '/' && !url.search && !url.hash && !url.username
  return isPlain && !url.password && /^https?:$/.test(url.protocol)
}, 'must be an http or https URL without a path and without credentials')

const machine = { type: 'machine' } as const
const region = z.string().regex(/^[a-z0-9-]{1,32}$/, 'must be a region, such as eu-central-1')
const project = z.string().regex(/^[a-z0-9.:-]{1,128}$/, 'must be the id or number of a project')
const keyPath = /^projects\/[\w.:-]+\/locations\/[\w-]+\/keyRings\/[\w-]+\/cryptoKeys\/[\w-]+$/
const azureName = z.string().regex(/^[0-9A-Za-z-]{1,127}$/, 'takes letters, digits and -')

const Aws = z.strictObject({
  type: z.literal('aws'),
  region,
  endpoint: origin.optional(),
  credentials: AwsCredentials.default(machine),
})
const Google = z.strictObject({
  type: z.literal('google'),
  project,
  location: region.optional(),
  endpoint: origin.optional(),
  credentials: GoogleCredentials.default(machine),
})
const Azure = z.strictObject({
  type: z.literal('azure'),
  vault_url: origin,
  credentials: AzureCredentials.default(machine),
})

/** What stands for the id of a workspace in a prefix. */
const workspaceMark = '{workspace}'
/** The key of the workspaces that are not named. */
export const everyWorkspace = '*'

/**
 * A prefix ends where a name begins, so that `team-a` cannot reach `team-ab`. Attack: a workspace whose prefix is the
 * beginning of another one's reads that one's secrets too, so that the operator decides.
 */
const Prefix = z
  .string()
  .max(200)
  .refine((text) => {
    const plain = text.replaceAll(workspaceMark, 'w')
    return (
      plain === '' || /^([A-Za-z0-9_+=@-][A-Za-z0-9_.+=@-]*\/)*([A-Za-z0-9_+=@-]*-)?$/.test(plain)
    )
  }, 'must be empty, or end with / or -, with letters, digits and _ - . + = @ before it')

const Workspaces = z
  .record(
    z.string().regex(/^(\*|wrkspc_\w{1,64})$/, 'must be the id of a workspace, or *'),
    z.strictObject({ prefix: Prefix }),
  )
  .refine((all) => all[everyWorkspace]?.prefix.includes(workspaceMark) ?? true, {
    path: [everyWorkspace, 'prefix'],
    error: `must contain ${workspaceMark}: else each workspace reads the secrets of all`,
  })

const workspaces = Workspaces.describe('Which workspaces read here, and below which path.')

const Manager = z.discriminatedUnion('type', [
  VaultSettings.extend({ workspaces }),
  Aws.extend({ workspaces }),
  Google.extend({ workspaces }),
  Azure.extend({ workspaces }).refine(
    (settings) => !Object.values(settings.workspaces).some(({ prefix }) => prefix.includes('{')),
    {
      path: ['workspaces'],
      error: `takes no ${workspaceMark}, because names there have no _: name each workspace`,
    },
  ),
])
/** SECRET: never logged. */
export type SecretManagerSettings = z.infer<typeof Manager>

export const SecretManagersSchema = z.record(SecretManagerName, Manager)

export const KeyServiceSchema = z.discriminatedUnion('type', [
  VaultTransitSettings,
  Aws.extend({
    type: z.literal('aws-kms'),
    key: z.string().regex(/^[\w:/-]{1,2048}$/, 'must be the id, ARN or alias of a key'),
  }),
  Google.omit({ project: true, location: true }).extend({
    type: z.literal('google-kms'),
    key: z
      .string()
      .regex(keyPath, 'must be projects/…/locations/…/keyRings/…/cryptoKeys/…, without a version'),
  }),
  Azure.extend({ type: z.literal('azure-key-vault'), key: azureName }),
])
/** SECRET: never logged. */
export type KeyServiceSettings = z.infer<typeof KeyServiceSchema>

export const parseSecretManagers = (text: string): Record<string, SecretManagerSettings> =>
  parseJsonSetting(SecretManagersSchema, text)
export const parseKeyService = (text: string): KeyServiceSettings =>
  parseJsonSetting(KeyServiceSchema, text)

/** The path of a workspace; undefined where the manager is not for it. */
export function prefixFor(
  { workspaces: known }: Pick<SecretManagerSettings, 'workspaces'>,
  workspace: string,
): string | undefined {
  const own = Object.hasOwn(known, workspace) ? known[workspace] : undefined
  const found = own ?? known[everyWorkspace]
  return found?.prefix.replaceAll(workspaceMark, workspace)
}
