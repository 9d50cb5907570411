/**
 * Templates: environments that exist before their sessions, on the wire of `/openai/v1`. A template is stored as an
 * environment.
 */
import { z } from 'zod'
import { Id, Line } from '../primitives.ts'
import {
  OpenAIFileParam,
  OpenAINetworkShown,
  OpenAIPackagesShown,
  hostedFields,
  sessionFields,
} from './environments.ts'
import { AfterQuery, UnixSeconds, unsupportedField } from './lists.ts'

const name = Line.min(1)
  .max(256)
  .nullish()
  .describe('Unique among the environments of the workspace; null for none.')

const template = { name, ...hostedFields, ...sessionFields }

export const OpenAITemplateCreate = z
  .strictObject(template)
  .meta({ id: 'OpenAITemplateCreateParams', examples: [{ packages: { python: ['pandas'] } }] })
export type OpenAITemplateCreate = z.infer<typeof OpenAITemplateCreate>

/** An omitted field keeps its value, and null clears it. `files` and `skills` are replaced as wholes. */
export const OpenAITemplateUpdate = z
  .strictObject(template)
  .meta({ id: 'OpenAITemplateUpdateParams', examples: [{ network: { access: 'disabled' } }] })
export type OpenAITemplateUpdate = z.infer<typeof OpenAITemplateUpdate>

const FileNamed = z.object({
  type: z.literal('file_id'),
  file_id: z.string(),
  path: z.string().describe('Where the file is in the sandbox.'),
})
const SkillNamed = z.object({
  type: z.literal('skill_reference'),
  skill_id: z.string(),
  version: z.string().nullable().describe('The version; null for the newest.'),
})

export const OpenAITemplateShown = z
  .object({
    id: z.string(),
    object: z.literal('agent.environment.template'),
    name: z.string().nullable(),
    network: OpenAINetworkShown.describe('Which hosts the sandbox reaches.'),
    packages: OpenAIPackagesShown.describe('What is installed before the first command.'),
    files: z.array(FileNamed).describe('Files that lie in the sandbox.'),
    skills: z.array(SkillNamed).describe('Skills that the agent has.'),
    plugins: z.array(z.never()).describe('Always empty.'),
    capability_directories: z.array(z.never()).describe('Always empty.'),
    created_at: UnixSeconds,
    updated_at: UnixSeconds,
  })
  .meta({ id: 'OpenAITemplate', description: 'What the sandboxes of sessions begin with.' })
export type OpenAITemplate = z.infer<typeof OpenAITemplateShown>

export const OpenAIEnvironmentCreate = z
  .strictObject({
    environment: z
      .strictObject({
        type: z.literal(
          'openai_hosted',
          unsupportedField('send openai_hosted; workers take environments of `/v1/environments`'),
        ),
        environment_template_id: Id.optional().describe('An environment to begin with.'),
        ...hostedFields,
        ...sessionFields,
      })
      .describe('What the sandboxes of sessions begin with.'),
    vault_ids: z
      .array(Id)
      .max(50)
      .nullish()
      .describe('Vaults of each session with the environment, behind those that it names.'),
  })
  .meta({
    id: 'OpenAIEnvironmentCreateParams',
    examples: [{ environment: { type: 'openai_hosted', packages: { npm: ['typescript'] } } }],
  })
export type OpenAIEnvironmentCreate = z.infer<typeof OpenAIEnvironmentCreate>

export const OpenAIEnvironmentListQuery = AfterQuery.extend({
  type: z
    .enum(['openai_hosted', 'self_hosted'])
    .optional()
    .describe('Only environments of this type; there are none but of `openai_hosted`.'),
})

export const OpenAIEnvironmentInfoShown = z
  .object({
    id: z.string(),
    object: z.literal('agent.environment'),
    type: z.literal('openai_hosted'),
    status: z
      .enum(['ready', 'expired'])
      .describe('`expired` once it is archived and no session uses it.'),
    files: z
      .array(
        FileNamed.extend({
          id: z.string(),
          size_bytes: z.int().describe('The size of the file in bytes.'),
        }),
      )
      .describe('Files that lie in the sandbox.'),
    skills: z
      .array(
        SkillNamed.extend({
          version: z.string().describe('The version, the newest where none was named.'),
          name: z.string(),
          description: z.string(),
        }),
      )
      .describe('Skills that the agent has.'),
    plugins: z.array(z.never()).describe('Always empty.'),
  })
  .meta({ id: 'OpenAIEnvironmentInfo', description: 'An environment, with what it begins with.' })
export type OpenAIEnvironmentInfo = z.infer<typeof OpenAIEnvironmentInfoShown>

export const OpenAIEnvironmentFileCreate = OpenAIFileParam

export const OpenAIEnvironmentFileQuery = z.object({
  limit: AfterQuery.shape.limit,
  order: z.enum(['asc', 'desc']).optional().describe('By their paths; `asc` when absent.'),
  path: z.string().max(1024).optional().describe('Only files whose path begins so.'),
  page: z.string().max(1024).optional().describe('The `next` of the page before.'),
})
export type OpenAIEnvironmentFileQuery = z.infer<typeof OpenAIEnvironmentFileQuery>

export const OpenAIEnvironmentFileShown = z
  .object({
    object: z.literal('agent.environment.file'),
    environment_id: z.string(),
    path: z.string().describe('Where the file is in the sandbox.'),
    size_bytes: z.int().describe('The size of the file in bytes.'),
  })
  .meta({ id: 'OpenAIEnvironmentFile', description: 'A file that sandboxes begin with.' })
export type OpenAIEnvironmentFile = z.infer<typeof OpenAIEnvironmentFileShown>

export const OpenAIEnvironmentFilesShown = z
  .object({
    object: z.literal('list'),
    data: z.array(OpenAIEnvironmentFileShown),
    has_more: z.boolean().describe('Whether there is a next page.'),
    next: z.string().nullable().describe('Send it as `page` for the next page.'),
  })
  .meta({ id: 'OpenAIEnvironmentFiles', description: 'A page of files.' })
