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
import { forbidden, invalid, notFound } from '../../ground/core/errors.ts'
import type { Bus } from '../../ground/bus/bus.ts'
import { lockCaller } from '../../ground/http/locked-caller.ts'
import type { Principal, Role } from '../../ground/http/principal.ts'
import { actorOf, roleOf } from '../../ground/http/principal.ts'
import type { Route } from '../../ground/http/route.ts'
import { section } from '../../ground/http/section.ts'
import { signedInAnswer } from '../people/answers.ts'
import { revocations } from '../api-keys/authenticate.ts'
import { peopleStore } from '../people/store.ts'
import { memberStore } from '../people/members/store.ts'
import type { People } from '../people/people.ts'
import { visitorOf } from '../people/people.ts'
import {
  acceptInvitation,
  invitationEnd,
  invitationUrl,
  letterToken,
  newInvitationToken,
} from './invitations.ts'
import type { Departure } from './departure.ts'
import { deletePerson, removeMember, setRole, showKeys, lockRole } from './departure.ts'
import { invitationStore, showInvitation } from './store.ts'

const invitations = section('Members', ['admin'], '/v1/ext/invitations')
const members = section('Members', ['workspace'], '/v1/ext/members')
const leaving = section('Members', ['user'], '/v1/ext/auth/leave')
const me = section('Sign-in', ['user'], '/v1/ext/me')
const accepting = section('Sign-in', ['anyone'], '/v1/ext/auth/invitation')

const MemberList = z
  .object({ data: z.array(MemberShown) })
  .meta({ id: 'MemberList', description: 'The people of a workspace.' })

/** Only an owner makes, changes or removes an owner. */
function checkOwner(principal: Principal, ...concerned: (Role | undefined)[]): void {
  if (concerned.includes('owner') && roleOf(principal) !== 'owner')
    throw forbidden('role: only an owner makes, changes or removes an owner')
}

export function memberRoutes(people: People, bus: Bus): Route[] {
  const { databases, clock, key, mail, origin, base, cookie, announce } = people
  const { control } = databases
  const optionsOf = ({ revoke_keys: revokes }: DepartureQuery) => ({
    revokesKeys: revokes === 'true',
    now: clock.now(),
  })

  function announceDeparture({ keys, revoked }: Departure): void {
    if (revoked) for (const { id, hash } of keys) bus.publish(revocations, { hash, id })
    announce()
  }

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
        const token = newInvitationToken()
        const now = clock.now()
        const email = body.email ?? null
        const isMailed = email !== null && mail.sends
        const made = {
          email,
          isMailed,
          role: body.role,
          token,
          invitedBy: actorOf(principal),
          expiresAt: invitationEnd(now),
        }
        const row = await control.write(async (tx) => {
          checkOwner(await lockCaller(tx, principal, 'admin'), body.role)
          return invitationStore(tx).create(tenant, made, now)
        })
        const url = invitationUrl(origin.of(header), token)
        if (email !== null && isMailed)
          mail.post({
            kind: 'invitation',
            to: email,
            subject: 'You are invited to Steward',
            text: `You are invited to a workspace. Open this link within seven days:\n\n${invitationUrl(base, letterToken(key, token))}\n`,
          })
        return { ...showInvitation(row), url, mailed: isMailed }
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
      async ({ tenant, params }) => {
        await control.write(async (tx) => {
          const isGone = await invitationStore(tx).remove(tenant, params.id)
          if (!isGone) throw notFound('invitation', params.id)
        })
      },
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
        const visitor = visitorOf({ header, address })
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
        const { changed, member } = await control.write(async (tx) => {
          const before = await lockRole(tx, tenant, id, role)
          checkOwner(await lockCaller(tx, principal, 'admin'), role, before)
          const change = { person: id, before, after: role }
          const changed = await setRole(tx, tenant, change, optionsOf(query))
          return { changed, member: await memberStore(tx).get(tenant, id) }
        })
        announceDeparture(changed)
        if (!member) throw notFound('member', id)
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
        const removed = await control.write(async (tx) => {
          const role = await lockRole(tx, tenant, id)
          checkOwner(await lockCaller(tx, principal, 'admin'), role)
          return removeMember(tx, { tenant, person: id, ...optionsOf(query) })
        })
        announceDeparture(removed)
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
          const row = await peopleStore(tx).take(id)
          if (row?.email !== query.confirm.trim().toLowerCase())
            throw invalid('confirm: must be your email address')
          return deletePerson(tx, id, optionsOf(query))
        })
        announceDeparture(deleted)
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
          await lockRole(tx, tenant, userId)
          return removeMember(tx, { tenant, person: userId, ...optionsOf(query) })
        })
        announceDeparture(left)
        return { id: userId, type: 'member_deleted', keys: showKeys(left), revoked: left.revoked }
      },
    ),
  ]
}
