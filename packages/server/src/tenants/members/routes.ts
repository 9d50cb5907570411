import {
  DepartureQuery,
  InvitationAccept,
  InvitationCreate,
  InvitationCreated,
  InvitationShown,
  Me,
  MemberRemoved,
  MemberShown,
  MemberUpdate,
  MemberUpdated,
  PersonDeleted,
  PersonDeleteQuery,
} from '@steward/protocol/people.ts'
import { ListQuery } from '@steward/protocol/primitives.ts'
import { z } from 'zod'
import { forbidden, invalid } from '../../ground/core/errors.ts'
import type { Route } from '../../ground/http/route.ts'
import { section } from '../../ground/http/section.ts'
import { signedInAnswer } from '../people/answers.ts'
import { peopleStore } from '../people/store.ts'
import { memberStore } from '../people/members/store.ts'
import type { People } from '../people/people.ts'
import { readVisitor } from '../people/people.ts'
import { memberChanges } from './changes.ts'
import { acceptInvitation } from './invitations.ts'
import { deletePerson, removeMember, showKeys, prepareRoleChange } from './departure.ts'
import { invitationStore, showInvitation } from './store.ts'

const invitations = section('Members', ['admin'], '/v1/ext/invitations')
const members = section('Members', ['workspace'], '/v1/ext/members')
const leaving = section('Members', ['user'], '/v1/ext/auth/leave')
const me = section('Sign-in', ['user'], '/v1/ext/me')
const accepting = section('Sign-in', ['anyone'], '/v1/ext/auth/invitation')

const MemberList = z
  .object({ data: z.array(MemberShown) })
  .meta({ id: 'MemberList', description: 'The people of a workspace.' })

export function memberRoutes(people: People): Route[] {
  const { databases, clock, origin, cookie } = people
  const { control } = databases
  const optionsOf = ({ revoke_keys: revokes }: DepartureQuery) => ({
    revokesKeys: revokes === 'true',
    now: clock.now(),
  })

  const changes = memberChanges(people)

  return [
    invitations.post(
      '',
      {
        summary: 'Invite a person',
        description: 'The link is valid for seven days, and opens once.',
        body: InvitationCreate,
        answer: InvitationCreated,
      },
      async ({ tenant, principal, body, header }) => {
        const asked = { email: body.email ?? null, role: body.role }
        const { row, url, mailed } = await changes.invite({ tenant, principal, header }, asked)
        return { ...showInvitation(row), url, mailed }
      },
    ),
    invitations.list(
      '',
      { summary: 'List invitations', query: ListQuery, answer: InvitationShown },
      {
        scope: 'invitations',
        rows: ({ tenant }, page) => invitationStore(control.read).list(tenant, page),
      },
    ),
    invitations.remove(
      '/:id',
      {
        summary: 'Withdraw an invitation',
        description: 'Its link opens nothing from now on.',
        type: 'invitation_deleted',
      },
      ({ tenant, params }) => changes.withdraw(tenant, params.id),
    ),
    accepting.post(
      '',
      {
        summary: 'Accept an invitation',
        description:
          'A person who is signed in joins the workspace. A person who is new here gives a name and a password. The answer sets the session cookie.',
        body: InvitationAccept,
        answer: Me,
      },
      async ({ body, header, address }) => {
        const signIn = await people.find(header)
        origin.check(header, { isChange: signIn !== undefined })
        await people.admit('sign_in', address)
        const visitor = readVisitor({ header, address })
        const token = await acceptInvitation(people, { ...body, visitor, signIn })
        return signedInAnswer(people, token, header)
      },
    ),
    members.get('', { summary: 'List members', answer: MemberList }, async ({ tenant }) => ({
      data: await memberStore(control.read).list(tenant),
    })),
    members.post(
      '/:id',
      {
        callers: ['admin'],
        summary: 'Change the role of a member',
        description:
          'Where the role becomes smaller, the answer lists valid keys that the person has made: they do what they did until they are revoked.',
        query: DepartureQuery,
        body: MemberUpdate,
        answer: MemberUpdated,
      },
      async ({ tenant, principal, params: { id }, body: { role }, query }) => {
        const { revokesKeys } = optionsOf(query)
        const change = { person: id, role, revokesKeys }
        const { member, changed } = await changes.setRole({ tenant, principal }, change)
        return { ...member, keys: showKeys(changed), revoked: changed.revoked }
      },
    ),
    members.delete(
      '/:id',
      {
        callers: ['admin'],
        summary: 'Remove a member',
        description:
          'What the person has made stays. The answer lists valid keys that the person has made: they open the workspace until they are revoked.',
        query: DepartureQuery,
        answer: MemberRemoved,
      },
      async ({ tenant, principal, params: { id }, query }) => {
        const { revokesKeys } = optionsOf(query)
        const removed = await changes.remove({ tenant, principal }, { person: id, revokesKeys })
        return { id, type: 'member_deleted', keys: showKeys(removed), revoked: removed.revoked }
      },
    ),
    me.delete(
      '',
      {
        summary: 'Delete your account',
        description:
          'Ends your sign-ins, memberships and links to identity providers. What you have made stays; the answer lists your valid keys.',
        query: PersonDeleteQuery,
        answer: PersonDeleted,
      },
      async ({ principal, query }) => {
        if (principal.kind !== 'user')
          throw forbidden('only a person who has signed in reaches this')
        const { userId: id } = principal
        const deleted = await control.write(async (tx) => {
          const row = await peopleStore(tx).findForUpdate(id)
          if (row?.email !== query.confirm.trim().toLowerCase())
            throw invalid('confirm: must be your email address')
          return deletePerson(tx, id, optionsOf(query))
        })
        return {
          reply: 'json',
          status: 200,
          body: { id, type: 'person_deleted', keys: showKeys(deleted), revoked: deleted.revoked },
          headers: { 'set-cookie': cookie.clear() },
        }
      },
    ),
    leaving.post(
      '',
      {
        summary: 'Leave the workspace',
        description:
          'What you have made stays. The answer lists your valid keys of the workspace: they open it until they are revoked.',
        query: DepartureQuery,
        answer: MemberRemoved,
      },
      async ({ tenant, principal, query }) => {
        if (principal.kind !== 'user' || tenant === '')
          throw invalid('anthropic-workspace-id: name the workspace that you leave')
        const { userId } = principal
        const left = await control.write(async (tx) => {
          await prepareRoleChange(tx, tenant, userId)
          return removeMember(tx, { tenant, person: userId, ...optionsOf(query) })
        })
        return { id: userId, type: 'member_deleted', keys: showKeys(left), revoked: left.revoked }
      },
    ),
  ]
}
