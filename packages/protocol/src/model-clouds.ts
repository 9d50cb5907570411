/** Models that a cloud serves, in model cards and in the operator's settings. */
import { AwsOwn, AzureOwn, GoogleOwn } from '@steward/cloud/credentials.ts'
import { z } from 'zod'

const hostPart = z.string().max(63)

/** The parts that addresses are built of, so that none of them can lead elsewhere. */
export const CloudSettings = z
  .strictObject({
    region: hostPart
      .regex(/^[a-z][a-z0-9-]*$/, 'must be a region, such as eu-central-1')
      .optional()
      .describe('The region of Bedrock or Vertex AI, such as `eu-central-1`.'),
    project: hostPart
      .regex(/^[a-z0-9][a-z0-9.:-]*$/, 'must be the id of a project')
      .optional()
      .describe('The project of Google Cloud.'),
    resource: hostPart
      .regex(/^[a-zA-Z0-9][a-zA-Z0-9-]*$/, 'must be the name of a resource')
      .optional()
      .describe('The resource of Microsoft Foundry.'),
    prefix: hostPart
      .regex(/^([a-z-]+\.)?$/, 'must be empty, or a word and a dot, such as eu.')
      .optional()
      .describe("The prefix of Bedrock's inference profile; left out: the one of the region."),
  })
  .meta({ id: 'ModelCloud', description: 'Where in a cloud the model is.' })
export type CloudSettings = z.infer<typeof CloudSettings>

const AsMachine = z
  .strictObject({
    type: z.literal('machine'),
    role_arn: AwsOwn.shape.role_arn,
    client_id: AzureOwn.shape.client_id
      .optional()
      .describe('A managed identity that is not the one of the machine.'),
  })
  .meta({
    id: 'MachineIdentity',
    description:
      'What the server is at the cloud. Only in workspaces that its operator lists. A role is assumed with the id of the workspace as external id.',
  })

/** SECRET: never logged */
export const CardCredentials = z
  .union([AwsOwn, GoogleOwn, AzureOwn, AsMachine])
  .describe('Credentials of the cloud, in place of `api_key`. No answer contains their secrets.')
export type CardCredentials = z.infer<typeof CardCredentials>

export const credentialTypes = [
  'aws_keys',
  'service_account',
  'client_secret',
  'machine',
] as const satisfies CardCredentials['type'][]
