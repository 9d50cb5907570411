import { z } from 'zod'
import type { EnvironmentRecord } from '../environments.ts'
import { EnvironmentCreate, Host } from '../environments.ts'
import { exampleIds } from '../example-ids.ts'
import { Packages } from '../packages.ts'
import { Id, Line } from '../primitives.ts'
import { ofUnknownType } from '../problems.ts'
import { emptyList, refused, unmet, unsupportedField } from './lists.ts'

const { env } = EnvironmentCreate.shape
const { npm, pip, apt } = Packages.shape
const hosts = z.array(Host).max(200).nullish()

export const hostedFields = {
  env,
  network: z
    .strictObject({
      access: z
        .enum(['enabled', 'disabled', 'restricted'])
        .describe('`restricted`: only the hosts of `allowed_domains` are reached.'),
      allowed_domains: hosts.describe('With `restricted`: the only hosts that are reached.'),
      blocked_domains: hosts.describe('Hosts that are never reached.'),
    })
    .nullish()
    .describe('Which hosts the sandbox reaches.'),
  packages: z
    .strictObject({ npm, python: pip, system: apt })
    .nullish()
    .describe('Installed before the first command.'),
  container_size: unmet(z.enum(['small', 'medium', 'large']))
    .nullish()
    .describe('A wish that is not met: the operator sets the size of sandboxes.'),
  desktop: z
    .strictObject({
      enabled: refused(z.literal(false, unsupportedField('sandboxes have no desktop'))),
    })
    .nullish()
    .describe('Absent or disabled: sandboxes have no desktop.'),
  plugins: emptyList('sandboxes have no plugins; upload a skill'),
  setup_commands: z
    .array(
      z.strictObject({
        command: z.string().min(1).max(16_384).describe('A line of bash.'),
        cwd: Line.max(1024)
          .regex(/^\//, 'must be an absolute path')
          .nullish()
          .describe('Where it runs; `/workspace` when absent.'),
      }),
    )
    .max(32)
    .nullish()
    .describe('Run in order before the first command of a session, at most 32.'),
  capability_directories: emptyList('upload skills, and name them in `skills`'),
}

const Skill = z
  .strictObject({
    type: refused(
      z.literal('skill_reference', unsupportedField('upload the skill, and name it by its id')),
      '`inline`',
    ),
    skill_id: Id,
    version: z.string().min(1).nullish().describe('The newest when absent.'),
  })
  .meta({ id: 'OpenAISkillReferenceParams', description: 'A skill that was uploaded.' })

/** Paths as the vendor takes them. */
const workspacePath = Line.max(1024)
  .regex(/^\/workspace\/./, 'must be absolute and below /workspace, such as /workspace/data.csv')
  .describe('Where the file is in the sandbox, below `/workspace`.')

/** Characters of an inline file: 5 MiB in base64. */
const longestInline = 6_990_508

export const OpenAIFileParam = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('file_id'), file_id: Id, path: workspacePath }),
    z.strictObject({
      type: z.literal('inline'),
      data: z
        .string()
        .max(longestInline)
        .regex(/^[A-Za-z0-9+/]*={0,2}$/, 'must be base64')
        .describe('The bytes in base64, 5 MiB at most. They become a file of the workspace.'),
      path: workspacePath,
    }),
  ])
  .meta({
    id: 'OpenAIEnvironmentFileParams',
    description: 'A file in the sandbox: one that was uploaded, or its bytes.',
    examples: [{ type: 'file_id', file_id: exampleIds.file, path: '/workspace/data.csv' }],
  })

export type OpenAIFileParam = z.infer<typeof OpenAIFileParam>

export const sessionFields = {
  files: z
    .array(OpenAIFileParam)
    .max(100)
    .nullish()
    .describe('Files that lie in the sandbox, at most 100.'),
  skills: z.array(Skill).max(64).nullish().describe('Skills that the agent has, at most 64.'),
}

const None = z
  .strictObject({ type: z.literal('none') })
  .meta({ id: 'OpenAINoEnvironmentParams', description: 'No sandbox: functions and MCP alone.' })
const Hosted = z
  .strictObject({
    type: z.literal('openai_hosted'),
    environment_template_id: Id.optional().describe('An environment of the workspace.'),
    environment_id: Id.optional().describe('An environment of the workspace.'),
    ...hostedFields,
    ...sessionFields,
  })
  .meta({ id: 'OpenAIHostedEnvironmentParams', description: 'A sandbox of this service.' })
  .refine((given) => !(given.environment_template_id && given.environment_id), {
    path: ['environment_id'],
    message: 'must not stand beside environment_template_id',
  })

const selfHosted =
  'it needs the executor of another vendor: run a worker of this service (docs/workers.md), and send the id of its environment as `environment_id` of type openai_hosted'

const unknownEnvironment = ofUnknownType((type) =>
  type === 'self_hosted'
    ? `self_hosted is not supported: ${selfHosted}`
    : 'must be none or openai_hosted',
)

export const OpenAIEnvironmentParam = refused(
  z.discriminatedUnion('type', [None, Hosted], unknownEnvironment),
  '`self_hosted`',
)
export type OpenAIEnvironmentParam = z.infer<typeof OpenAIEnvironmentParam>
export type OpenAIHostedParam = Extract<OpenAIEnvironmentParam, { type: 'openai_hosted' }>

export const OpenAINetworkShown = z.object({
  access: z
    .enum(['enabled', 'disabled', 'restricted'])
    .describe('`restricted`: only the hosts of `allowed_domains` are reached.'),
  allowed_domains: z
    .array(z.string())
    .describe('The only hosts that are reached, with `restricted`.'),
})
export const OpenAIPackagesShown = z.object({
  npm: z.array(z.string()).describe('Packages of npm.'),
  python: z.array(z.string()).describe('Packages of pip.'),
  system: z.array(z.string()).describe('Packages of apt.'),
})

export const OpenAIEnvironmentShown = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('none') }),
    z.object({
      type: z.literal('openai_hosted'),
      id: z.string(),
      network: OpenAINetworkShown.describe('Which hosts the sandbox reaches.'),
      packages: OpenAIPackagesShown.describe('What is installed before the first command.'),
      files: z
        .array(
          z.object({
            id: z.string(),
            type: z.literal('file_id'),
            file_id: z.string(),
            path: z.string().describe('Where the file is in the sandbox.'),
            size_bytes: z.int().describe('The size of the file in bytes.'),
          }),
        )
        .describe('Files that lie in the sandbox.'),
      skills: z
        .array(
          z.object({
            type: z.literal('skill_reference'),
            skill_id: z.string(),
            version: z.string().describe('The version that the session has.'),
            name: z.string(),
            description: z.string(),
          }),
        )
        .describe('Skills that the agent has.'),
      plugins: z.array(z.never()).describe('Always empty.'),
      capability_directories: z.array(z.never()).describe('Always empty.'),
    }),
  ])
  .meta({ id: 'OpenAIEnvironment', description: 'Where the commands of a session run.' })
export type OpenAIEnvironment = z.infer<typeof OpenAIEnvironmentShown>

/** Marks the environment of a session that has no environment on the wire of `/openai/v1`. */
export const noneMark = { 'openai.environment': 'none' } as const
export const isNone = ({ metadata }: Pick<EnvironmentRecord, 'metadata'>): boolean =>
  metadata['openai.environment'] === noneMark['openai.environment']
