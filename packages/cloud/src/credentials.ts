/** How a configuration says who we are. The schemas are shared by settings and model cards. */
import { z } from 'zod'

const line = z
  .string()
  .min(1)
  .max(2_048)
  .regex(/^[^\p{Cc}]+$/u, 'must be one line')

const roleArn = line
  .regex(
    /^arn:[\w-]+:iam::\d{12}:role\/[\w+=,.@/-]+$/,
    'must be the ARN of a role, such as arn:aws:iam::123456789012:role/models',
  )
  .describe('A role that is assumed with these credentials.')
const externalId = line.max(1_224).describe('The external id that the trust of the role asks for.')

/** Keys of Amazon that a person can give. A role is assumed with these keys. */
export const AwsOwn = z
  .strictObject({
    type: z.literal('aws_keys'),
    access_key_id: line.max(128).describe('The id of the key.'),
    secret_access_key: line.describe('No answer contains it.'),
    session_token: line.max(8_192).optional().describe('Of keys that end. No answer contains it.'),
    role_arn: roleArn.optional(),
    external_id: externalId.optional(),
  })
  .meta({ id: 'AwsKeys', description: 'Keys of Amazon.' })
export type AwsOwn = z.infer<typeof AwsOwn>

/** What this machine is at a cloud, by its variables, files and metadata address. */
const machine = z.strictObject({ type: z.literal('machine') })

export const AwsCredentials = z.union([
  AwsOwn,
  machine.extend({ role_arn: roleArn.optional(), external_id: externalId.optional() }),
])
export type AwsCredentials = z.infer<typeof AwsCredentials>

/** The fields of a key file of a service account that are used; others are left out. */
export const GoogleOwn = z
  .object({
    type: z.literal('service_account'),
    client_email: line.describe('The address of the service account.'),
    private_key: z
      .string()
      .startsWith('-----BEGIN ', 'must be a PEM text')
      .max(16_384)
      .describe('No answer contains it.'),
    private_key_id: line.optional().describe('The id of the key.'),
  })
  .meta({
    id: 'GoogleServiceAccountKey',
    description: 'A key of a service account, as Google gives it. Further fields are ignored.',
  })
export type GoogleOwn = z.infer<typeof GoogleOwn>

/** `file`: a key file, or a configuration of workload identity federation. */
export const GoogleCredentials = z.union([
  GoogleOwn,
  machine,
  z.strictObject({ type: z.literal('file'), path: line }),
])
export type GoogleCredentials = z.infer<typeof GoogleCredentials>

const azureHosts = [
  'login.microsoftonline.com',
  'login.microsoftonline.us',
  'login.partner.microsoftonline.cn',
] as const

const id = line.max(256).regex(/^[\w.-]+$/, 'must be an id or a domain')

export const AzureOwn = z
  .strictObject({
    type: z.literal('client_secret'),
    tenant_id: id.describe('The directory (tenant) of Microsoft Entra.'),
    client_id: id.describe('The application (client).'),
    client_secret: line.describe('No answer contains it.'),
    authority: z.enum(azureHosts).optional().describe('Default: `login.microsoftonline.com`.'),
  })
  .meta({ id: 'AzureClientSecret', description: 'An application of Microsoft Entra.' })
export type AzureOwn = z.infer<typeof AzureOwn>

/** `client_id`: the user-assigned managed identity; left out: the one of the system. */
export const AzureCredentials = z.union([AzureOwn, machine.extend({ client_id: id.optional() })])
export type AzureCredentials = z.infer<typeof AzureCredentials>

/** The values that no message and no log may repeat. */
export function credentialSecrets(
  given: AwsCredentials | GoogleCredentials | AzureCredentials | undefined,
): string[] {
  switch (given?.type) {
    case 'aws_keys':
      return [given.secret_access_key, ...(given.session_token ? [given.session_token] : [])]
    case 'service_account':
      return [given.private_key]
    case 'client_secret':
      return [given.client_secret]
    default:
      return []
  }
}
