import { z } from 'zod'
import { CreatedAt, Flag, Line, TextList, Timestamp, pageLimit } from './primitives.ts'

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
    data_residency: z
      .object({
        allowed_inference_geos: z.literal('unrestricted'),
        default_inference_geo: z.literal('global'),
        workspace_geo: z.literal('us'),
      })
      .describe(
        'The same for all, because the official client expects it: it says nothing about where this service runs.',
      ),
    compartment_id: z.string().describe('The id of the workspace.'),
    external_key_id: z.null().describe('Always null.'),
    user_profile_id: z.null().describe('Always null.'),
  })
  .meta({ id: 'Workspace', description: 'A workspace: what people and keys share.' })
export type WorkspaceShown = z.infer<typeof WorkspaceShown>

const Name = Line.min(1).max(256).describe('The name of the workspace.')

export const WorkspaceCreate = z
  .strictObject({ name: Name })
  .meta({ id: 'WorkspaceCreateParams', examples: [{ name: 'the second team' }] })

export const WorkspaceUpdate = z
  .strictObject({ name: Name.optional().describe('The name; left out, it stays.') })
  .meta({ id: 'WorkspaceUpdateParams', examples: [{ name: 'the first team' }] })

export const WorkspaceDeleteQuery = z.object({
  confirm: z
    .string()
    .describe('The name of the workspace, so that no other is deleted by mistake.'),
})

/** A page by the ids of its neighbours. */
export const ById = z.object({
  limit: pageLimit(1, 1_000).optional(),
  after_id: z.string().optional().describe('The last item of the page before.'),
  before_id: z
    .string()
    .optional()
    .describe('The first item of the page after; not together with `after_id`.'),
})
export type PageByIdQuery = z.infer<typeof ById>

/** The envelope of such a page. */
export const byId = {
  has_more: z.boolean().describe('Whether the list goes on, in the direction that was asked for.'),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
}

export const WorkspaceListQuery = ById.extend({
  limit: ById.shape.limit.describe('All when absent.'),
  ids: TextList.pipe(z.array(z.string()).max(100))
    .optional()
    .describe('Only workspaces with these ids, at most 100.'),
  include_archived: Flag.optional().describe('`false` when absent.'),
  include_default: Flag.optional().describe(
    'Changes nothing: no workspace is the default one, and all are listed.',
  ),
})

export const WorkspaceList = z
  .object({
    data: z.array(WorkspaceShown),
    ...byId,
  })
  .meta({ id: 'WorkspaceList', description: 'The workspaces that the caller belongs to.' })

const keyStatuses = ['active', 'inactive', 'expired', 'archived'] as const

export const AdminKeyShown = z
  .object({
    id: z.string(),
    type: z.literal('api_key'),
    name: z.string(),
    partial_key_hint: z.string().describe('Enough of the key to recognise it.'),
    status: z
      .enum(keyStatuses)
      .describe(
        '`inactive`: the key opens nothing until it is active again. `archived`: it is revoked for good.',
      ),
    workspace_id: z.string(),
    scope: z
      .object({ type: z.literal('workspace'), workspace_id: z.string() })
      .describe('The workspace that the key opens.'),
    created_by: z
      .object({ id: z.string(), type: z.literal('user') })
      .nullable()
      .describe('The person who has made it. Null where an operator or another key has.'),
    principal: z.null().describe('Always null: a key acts as nobody but itself.'),
    expires_at: Timestamp.nullable().describe('When the key stops working, or null.'),
    created_at: CreatedAt,
  })
  .meta({ id: 'OrganizationApiKey', description: 'A key, as the administration shows it.' })
export type AdminKeyShown = z.infer<typeof AdminKeyShown>

export const AdminKeyQuery = ById.extend({
  limit: ById.shape.limit.describe('20 when absent.'),
  status: z
    .enum([...keyStatuses, ''])
    .optional()
    .describe('Only keys in this state.'),
  workspace_id: z.string().optional().describe('Only keys of this workspace.'),
  created_by_user_id: z.string().optional().describe('Only keys that this person has made.'),
})
export type AdminKeyQuery = z.infer<typeof AdminKeyQuery>

export const AdminKeyList = z
  .object({
    data: z.array(AdminKeyShown),
    ...byId,
  })
  .meta({ id: 'OrganizationApiKeyList', description: 'Keys of the workspace, the newest first.' })

export const AdminKeyUpdate = z
  .strictObject({
    name: Line.min(1).max(256).nullish().describe('What the key is for.'),
    status: z
      .enum(['active', 'inactive', 'archived'])
      .nullish()
      .describe('What the key is from now on.'),
  })
  .meta({ id: 'OrganizationApiKeyUpdateParams', examples: [{ name: 'the second worker' }] })
