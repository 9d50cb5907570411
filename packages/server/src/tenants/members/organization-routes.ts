/** The people of a workspace in the shapes of the official administration: users, members and invites. */
import {
  InviteCreate,
  InviteList,
  InviteQuery,
  InviteShown,
  InviteShownOnce,
  OrganizationUserList,
  OrganizationUserQuery,
  OrganizationUserShown,
  OrganizationUserUpdate,
  WorkspaceMemberAdd,
  WorkspaceMemberList,
  WorkspaceMemberQuery,
  WorkspaceMemberRemoved,
  WorkspaceMemberShown,
  WorkspaceMemberUpdate,
} from '@steward/protocol/organization-people.ts'
import type { MemberShown } from '@steward/protocol/people.ts'
import { invalid, notFound } from '../../ground/core/errors.ts'
import { besideIn, readIdSide, pageById } from '../../ground/core/text/page.ts'
import type { Principal } from '../../ground/http/principal.ts'
import type { Role } from '../../ground/core/security/roles.ts'
import type { Route } from '../../ground/http/route.ts'
import { section } from '../../ground/http/section.ts'
import { memberStore } from '../people/members/store.ts'
import type { People } from '../people/people.ts'
import { memberChanges } from './changes.ts'
import type { InvitationRow } from './store.ts'
import { invitationStore } from './store.ts'

const users = section('Organisation', ['admin'], '/v1/organizations/users')
const invites = section('Organisation', ['admin'], '/v1/organizations/invites')
const members = section('Organisation', ['admin'], '/v1/organizations/workspaces/:id/members')

const organizationRoles = {
  viewer: 'user',
  reviewer: 'user',
  member: 'developer',
  admin: 'admin',
  owner: 'owner',
} as const satisfies Record<Role, string>

const workspaceRoles = {
  viewer: 'workspace_user',
  reviewer: 'workspace_user',
  member: 'workspace_developer',
  admin: 'workspace_admin',
  owner: 'workspace_admin',
} as const satisfies Record<Role, string>

const roleNamed: Record<string, Role> = {
  user: 'viewer',
  developer: 'member',
  admin: 'admin',
  owner: 'owner',
  workspace_user: 'viewer',
  workspace_developer: 'member',
  workspace_admin: 'admin',
}

/** Throws for a role of the official interface that no role of this service stands for. */
function roleFrom(name: string, field: 'role' | 'workspace_role'): Role {
  const role = roleNamed[name]
  if (role === undefined)
    throw invalid(
      field === 'role'
        ? `role: ${name} has no counterpart here; take user, developer, admin or owner`
        : `workspace_role: ${name} has no counterpart here; take workspace_user, workspace_developer or workspace_admin`,
    )
  return role
}

const usualLimit = 20

/** A page of rows that are in memory. */
function pageIn<Row extends { id: string }>(
  rows: readonly Row[],
  query: {
    limit?: number | undefined
    after_id?: string | undefined
    before_id?: string | undefined
  },
) {
  const from = readIdSide(query)
  if (from && !rows.some(({ id }) => id === from.id))
    throw invalid(`${from.side}_id: is not in this list`)
  return pageById(besideIn(rows, from), query.limit ?? usualLimit, from)
}

const showUser = ({ id, email, name, role, created_at }: MemberShown) => ({
  id,
  type: 'user' as const,
  email,
  name,
  role: organizationRoles[role],
  added_at: created_at,
})

const showMember = (tenant: string, { id, role }: MemberShown) => ({
  type: 'workspace_member' as const,
  user_id: id,
  workspace_id: tenant,
  workspace_role: workspaceRoles[role],
})

function showInvite(row: InvitationRow, now: number) {
  const isOver = Date.parse(row.expires_at) <= now
  return {
    id: row.id,
    type: 'invite' as const,
    email: row.email ?? '',
    role: organizationRoles[row.role],
    status:
      row.accepted_at !== null
        ? ('accepted' as const)
        : isOver
          ? ('expired' as const)
          : ('pending' as const),
    rbac_group_ids: [],
    invited_at: row.created_at,
    expires_at: row.expires_at,
    accepted_at: row.accepted_at,
  }
}

const isNamed = (wanted: readonly string[] | undefined, value: string): boolean =>
  wanted === undefined || wanted.includes(value)

export const organizationPeopleRoutes = (people: People): Route[] => [
  ...userRoutes(people),
  ...inviteRoutes(people),
  ...workspaceMemberRoutes(people),
]

function userRoutes(people: People): Route[] {
  const { control } = people.databases
  const changes = memberChanges(people)

  return [
    users.get(
      '',
      { summary: 'List users', query: OrganizationUserQuery, answer: OrganizationUserList },
      async ({ tenant, query }) => {
        const all = (await memberStore(control.read).list(tenant)).map(showUser)
        const some = all.filter(
          ({ email, role }) =>
            (query.email === undefined || email === query.email.toLowerCase()) &&
            isNamed(query.roles, role),
        )
        return pageIn(some, query)
      },
    ),
    users.get(
      '/:id',
      { summary: 'Get a user', answer: OrganizationUserShown },
      async ({ tenant, params: { id } }) => {
        const member = await memberStore(control.read).get(tenant, id)
        if (!member) throw notFound('user', id)
        return showUser(member)
      },
    ),
    users.post(
      '/:id',
      {
        summary: 'Change the role of a user',
        description: 'The role in the workspace; keys that the person has made stay.',
        body: OrganizationUserUpdate,
        answer: OrganizationUserShown,
      },
      async ({ tenant, principal, params, body }) => {
        const role = roleFrom(body.role, 'role')
        const change = { person: params.id, role, revokesKeys: false }
        return showUser((await changes.setRole({ tenant, principal }, change)).member)
      },
    ),
    users.remove(
      '/:id',
      {
        summary: 'Remove a user',
        description: 'From the workspace. What the person has made stays, keys included.',
        type: 'user_deleted',
      },
      async ({ tenant, principal, params }) => {
        await changes.remove({ tenant, principal }, { person: params.id, revokesKeys: false })
      },
    ),
  ]
}

function inviteRoutes(people: People): Route[] {
  const { clock, databases } = people
  const { control } = databases
  const changes = memberChanges(people)

  return [
    invites.get(
      '',
      { summary: 'List invites', query: InviteQuery, answer: InviteList },
      async ({ tenant, query }) => {
        const rows = await invitationStore(control.read).newest(tenant)
        const some = rows
          .map((row) => showInvite(row, clock.now()))
          .filter(
            ({ email, role, status }) =>
              (query.email === undefined || email === query.email.toLowerCase()) &&
              isNamed(query.roles, role) &&
              isNamed(query.statuses, status),
          )
        return pageIn(some, query)
      },
    ),
    invites.get(
      '/:id',
      { summary: 'Get an invite', answer: InviteShown },
      async ({ tenant, params: { id } }) => {
        const row = await invitationStore(control.read).get(tenant, id)
        if (!row) throw notFound('invite', id)
        return showInvite(row, clock.now())
      },
    ),
    invites.post(
      '',
      {
        summary: 'Invite a user',
        description:
          'To the workspace. The link goes to the address where the server sends mail, and stands in this answer alone.',
        body: InviteCreate,
        answer: InviteShownOnce,
      },
      async ({ tenant, principal, header, body: { email, role: name } }) => {
        const role = roleFrom(name, 'role')
        const made = await changes.invite({ tenant, principal, header }, { email, role })
        return { ...showInvite(made.row, clock.now()), url: made.url }
      },
    ),
    invites.remove(
      '/:id',
      {
        summary: 'Withdraw an invite',
        description: 'Its link opens nothing from now on.',
        type: 'invite_deleted',
      },
      ({ tenant, params }) => changes.withdraw(tenant, params.id),
    ),
  ]
}

function workspaceMemberRoutes(people: People): Route[] {
  const { control } = people.databases
  const changes = memberChanges(people)

  function checkWorkspace(tenant: string, id: string): void {
    if (id !== tenant) throw notFound('workspace', id)
  }

  async function memberOf(tenant: string, id: string): Promise<MemberShown> {
    const member = await memberStore(control.read).get(tenant, id)
    if (!member) throw notFound('member', id)
    return member
  }

  async function setRole(
    call: { tenant: string; principal: Principal },
    person: string,
    name: string,
  ): Promise<ReturnType<typeof showMember>> {
    const before = await memberOf(call.tenant, person)
    if (workspaceRoles[before.role] === name) return showMember(call.tenant, before)
    const role = roleFrom(name, 'workspace_role')
    const change = { person, role, revokesKeys: false }
    return showMember(call.tenant, (await changes.setRole(call, change)).member)
  }

  return [
    members.get(
      '',
      {
        summary: 'List members of a workspace',
        query: WorkspaceMemberQuery,
        answer: WorkspaceMemberList,
      },
      async ({ tenant, params, query }) => {
        checkWorkspace(tenant, params.id)
        const { data, ...page } = pageIn(await memberStore(control.read).list(tenant), query)
        return { ...page, data: data.map((each) => showMember(tenant, each)) }
      },
    ),
    members.get(
      '/:user_id',
      { summary: 'Get a member of a workspace', answer: WorkspaceMemberShown },
      async ({ tenant, params }) => {
        checkWorkspace(tenant, params.id)
        return showMember(tenant, await memberOf(tenant, params.user_id))
      },
    ),
    members.post(
      '',
      {
        summary: 'Add a member to a workspace',
        description:
          'The users of a workspace are its members, so that this sets the role of one. Nobody else can be added: invite the person.',
        body: WorkspaceMemberAdd,
        answer: WorkspaceMemberShown,
      },
      ({ tenant, principal, params, body: { user_id, workspace_role } }) => {
        checkWorkspace(tenant, params.id)
        return setRole({ tenant, principal }, user_id, workspace_role)
      },
    ),
    members.post(
      '/:user_id',
      {
        summary: 'Change the role of a member of a workspace',
        description: 'An owner who is to be `workspace_admin` stays an owner.',
        body: WorkspaceMemberUpdate,
        answer: WorkspaceMemberShown,
      },
      ({ tenant, principal, params, body }) => {
        checkWorkspace(tenant, params.id)
        return setRole({ tenant, principal }, params.user_id, body.workspace_role)
      },
    ),
    members.delete(
      '/:user_id',
      {
        summary: 'Remove a member from a workspace',
        description: 'What the person has made stays, keys included.',
        answer: WorkspaceMemberRemoved,
      },
      async ({ tenant, principal, params }) => {
        checkWorkspace(tenant, params.id)
        const person = params.user_id
        await changes.remove({ tenant, principal }, { person, revokesKeys: false })
        return { type: 'workspace_member_deleted', user_id: person, workspace_id: tenant }
      },
    ),
  ]
}
