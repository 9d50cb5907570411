import { z } from 'zod'
import { CreatedAt, Line, Timestamp } from './primitives.ts'

export const OrganizationShown = z
  .object({ id: z.string(), type: z.literal('organization'), name: z.string() })
  .meta({ id: 'Organization', description: 'The organisation of a workspace.' })

export const WorkspaceShown = z
  .object({
    id: z.string(),
    type: z.literal('workspace'),
    name: z.string(),
    display_color: z.string().describe('The same for all.'),
    tags: z.record(z.string(), z.string()).describe('Always empty.'),
    archived_at: Timestamp.nullable(),
    created_at: CreatedAt,
    data_residency: z.null(),
    compartment_id: z.null(),
    external_key_id: z.null(),
    user_profile_id: z.null(),
  })
  .meta({ id: 'Workspace', description: 'A workspace: what people and keys share.' })
export type WorkspaceShown = z.infer<typeof WorkspaceShown>

const Name = Line.min(1).max(256).describe('The name of the workspace.')

export const WorkspaceCreate = z
  .strictObject({ name: Name })
  .meta({ id: 'WorkspaceCreateParams', examples: [{ name: 'the second team' }] })

export const WorkspaceUpdate = z
  .strictObject({ name: Name })
  .meta({ id: 'WorkspaceUpdateParams', examples: [{ name: 'the first team' }] })

export const WorkspaceListQuery = z.object({
  include_archived: z.enum(['true', 'false']).optional().describe('`false` when absent.'),
})

export const WorkspaceList = z
  .object({
    data: z.array(WorkspaceShown),
    has_more: z.literal(false),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
  })
  .meta({ id: 'WorkspaceList', description: 'The workspaces that the caller belongs to.' })
