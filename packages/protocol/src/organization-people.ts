/** The people of a workspace, in the shapes of the official administration. */
import { z } from 'zod'
import { exampleIds } from './example-ids.ts'
import { byId, ById } from './organization.ts'
import { CreatedAt, TextList, Timestamp, WordList, extension } from './primitives.ts'

const Role = z
  .enum(['user', 'developer', 'admin', 'owner'])
  .describe('`user`: a viewer. `developer`: a member. `admin`, `owner`: the same.')
const RoleAsked = z
  .string()
  .max(64)
  .describe('`user`, `developer`, `admin` or `owner`; others have no counterpart here.')
const WorkspaceRole = z
  .enum(['workspace_user', 'workspace_developer', 'workspace_admin'])
  .describe(
    '`workspace_user`: a viewer. `workspace_developer`: a member. `workspace_admin`: an admin or an owner.',
  )
const WorkspaceRoleAsked = z
  .string()
  .max(64)
  .describe(
    '`workspace_user`, `workspace_developer` or `workspace_admin`; others have no counterpart here.',
  )
const Email = z.string().trim().toLowerCase().max(254).pipe(z.email())

/** A page by ids of 20 items where no `limit` is named. */
export const TwentyById = ById.extend({ limit: ById.shape.limit.describe('20 when absent.') })

const people = {
  email: z.string().optional().describe('Only with this address.'),
  roles: TextList.optional().describe('Only with these roles.'),
}

export const OrganizationUserShown = z
  .object({
    id: z.string(),
    type: z.literal('user'),
    email: z.string(),
    name: z.string(),
    role: Role,
    added_at: CreatedAt.describe('When the person became a member.'),
  })
  .meta({ id: 'OrganizationUser', description: 'A person of the workspace.' })

export const OrganizationUserQuery = TwentyById.extend(people)
export const OrganizationUserList = z
  .object({ data: z.array(OrganizationUserShown), ...byId })
  .meta({
    id: 'OrganizationUserList',
    description: 'The people of the workspace, the first first.',
  })
export const OrganizationUserUpdate = z
  .strictObject({ role: RoleAsked })
  .meta({ id: 'OrganizationUserUpdateParams', examples: [{ role: 'developer' }] })

const inviteStatuses = ['accepted', 'expired', 'pending'] as const

export const InviteShown = z
  .object({
    id: z.string(),
    type: z.literal('invite'),
    email: z.string().describe('Empty for a link that names no address.'),
    role: Role,
    status: z.enum(inviteStatuses).describe('What became of it.'),
    rbac_group_ids: z.array(z.string()).describe('Always empty.'),
    invited_at: CreatedAt,
    expires_at: Timestamp.describe('When the link ends.'),
    accepted_at: Timestamp.nullable().describe('When it was accepted, or null.'),
  })
  .meta({ id: 'OrganizationInvite', description: 'An invitation, without its link.' })

export const InviteShownOnce = InviteShown.extend({
  url: z.string().meta(extension('The link. It opens once; no other answer contains it.')),
}).meta({ id: 'OrganizationInviteWithLink', description: 'An invitation with its link.' })

export const InviteQuery = TwentyById.extend(people).extend({
  statuses: WordList(inviteStatuses).optional().describe('Only with these states.'),
})
export const InviteList = z
  .object({ data: z.array(InviteShown), ...byId })
  .meta({ id: 'OrganizationInviteList', description: 'Invitations, the newest first.' })
export const InviteCreate = z
  .strictObject({
    email: Email.describe('Whom to invite.'),
    role: RoleAsked,
    rbac_group_ids: z
      .array(z.string())
      .max(0, 'must be empty: this service has no groups')
      .optional()
      .describe('Empty: this service has no groups.'),
  })
  .meta({
    id: 'OrganizationInviteCreateParams',
    examples: [{ email: 'bea@example.com', role: 'developer' }],
  })

export const WorkspaceMemberShown = z
  .object({
    type: z.literal('workspace_member'),
    user_id: z.string().describe('The person.'),
    workspace_id: z.string(),
    workspace_role: WorkspaceRole,
  })
  .meta({ id: 'WorkspaceMember', description: 'A person and the role in the workspace.' })

export const WorkspaceMemberQuery = TwentyById.extend({})
export const WorkspaceMemberList = z
  .object({ data: z.array(WorkspaceMemberShown), ...byId })
  .meta({ id: 'WorkspaceMemberList', description: 'The members of a workspace.' })
export const WorkspaceMemberAdd = z
  .strictObject({ user_id: z.string().describe('The person.'), workspace_role: WorkspaceRoleAsked })
  .meta({
    id: 'WorkspaceMemberAddParams',
    examples: [{ user_id: exampleIds.person, workspace_role: 'workspace_developer' }],
  })
export const WorkspaceMemberUpdate = z.strictObject({ workspace_role: WorkspaceRoleAsked }).meta({
  id: 'WorkspaceMemberUpdateParams',
  examples: [{ workspace_role: 'workspace_developer' }],
})
export const WorkspaceMemberRemoved = z
  .object({
    type: z.literal('workspace_member_deleted'),
    user_id: z.string().describe('The person.'),
    workspace_id: z.string(),
  })
  .meta({ id: 'WorkspaceMemberRemoved', description: 'A person who is no member any more.' })
