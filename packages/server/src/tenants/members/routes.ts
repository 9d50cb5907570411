import {
  InvitationAccept,
  InvitationCreate,
  InvitationCreated,
  InvitationShown,
  Me,
  MemberShown,
  MemberUpdate,
} from '@steward/protocol/people.ts'
import { ListQuery } from '@steward/protocol/primitives.ts'
import { z } from 'zod'
import { conflict, forbidden, invalid, notFound } from '../../ground/core/errors.ts'
import type { Queries } from '../../ground/database/database.ts'
import type { Principal, Role } from '../../ground/http/principal.ts'
import { actorOf, roleOf } from '../../ground/http/principal.ts'
import { empty } from '../../ground/http/reply.ts'
import type { Route } from '../../ground/http/route.ts'
import { section } from '../../ground/http/section.ts'
import { signedInAnswer } from '../people/answers.ts'
import { memberStore } from '../people/members/store.ts'
import type { People } from '../people/people.ts'
import { visitorOf } from '../people/people.ts'
import {
  acceptInvitation,
  invitationEnds,
  invitationUrl,
  letterToken,
  newInvitationToken,
} from './invitations.ts'
import { invitationStore, shownInvitation } from './store.ts'

const invitations = section('Members', ['admin'], '/v1/ext/invitations')
const members = section('Members', ['workspace'], '/v1/ext/members')
const leaving = section('Members', ['user'], '/v1/ext/auth/leave')
const accepting = section('Sign-in', ['anyone'], '/v1/ext/auth/invitation')

const MemberList = z
  .object({ data: z.array(MemberShown) })
  .meta({ id: 'MemberList', description: 'The people of a workspace.' })

/** Only an owner makes, changes or removes an owner. */
function checkOwner(principal: Principal, ...concerned: (Role | undefined)[]): void {
  if (concerned.includes('owner') && roleOf(principal) !== 'owner')
    throw forbidden('role: only an owner makes, changes or removes an owner')
}

/** The role, for a change of it, with which open invitations of the person end. Throws where no owner is left. */
async function takeRole(tx: Queries, tenant: string, person: string, next?: Role): Promise<Role> {
  const all = await memberStore(tx).take(tenant)
  const role = all.get(person)
  if (!role) throw notFound('member', person)
  const owners = [...all.values()].filter((each) => each === 'owner').length
  if (role === 'owner' && next !== 'owner' && owners === 1)
    throw conflict('this is the last owner of the workspace: name another owner first')
  await invitationStore(tx).removeOpenOf(tenant, person)
  return role
}

export function memberRoutes(people: People): Route[] {
  const { databases, clock, key, mail, origin, announce } = people
  const { control } = databases

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
        checkOwner(principal, body.role)
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
          expiresAt: invitationEnds(now),
        }
        const row = await control.write((tx) => invitationStore(tx).create(tenant, made, now))
        const base = origin.of(header)
        const url = invitationUrl(base, token)
        if (email !== null && isMailed)
          mail.post({
            to: email,
            subject: 'You are invited to Steward',
            text: `You are invited to a workspace. Open this link within seven days:\n\n${invitationUrl(base, letterToken(key, token))}\n`,
          })
        return { ...shownInvitation(row), url, mailed: isMailed }
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
      { summary: 'Withdraw an invitation', type: 'invitation_deleted' },
      async ({ tenant, params }) => {
        const isGone = await control.write((tx) => invitationStore(tx).remove(tenant, params.id))
        if (!isGone) throw notFound('invitation', params.id)
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
        body: MemberUpdate,
        answer: MemberShown,
      },
      async ({ tenant, principal, params, body }) => {
        const member = await control.write(async (tx) => {
          checkOwner(principal, body.role, await takeRole(tx, tenant, params.id, body.role))
          await memberStore(tx).setRole(tenant, params.id, body.role)
          return memberStore(tx).get(tenant, params.id)
        })
        announce()
        if (!member) throw notFound('member', params.id)
        return member
      },
    ),
    members.remove(
      '/:id',
      {
        callers: ['admin'],
        summary: 'Remove a member',
        description: 'What the person has made stays.',
        type: 'member_deleted',
      },
      async ({ tenant, principal, params }) => {
        await control.write(async (tx) => {
          checkOwner(principal, await takeRole(tx, tenant, params.id))
          await memberStore(tx).remove(tenant, params.id)
        })
        announce()
      },
    ),
    leaving.post(
      '',
      { summary: 'Leave the workspace', description: 'What you have made stays.', answer: 'none' },
      async ({ tenant, principal }) => {
        if (principal.kind !== 'user' || tenant === '')
          throw invalid('anthropic-workspace-id: name the workspace that you leave')
        const { userId } = principal
        await control.write(async (tx) => {
          await takeRole(tx, tenant, userId)
          await memberStore(tx).remove(tenant, userId)
        })
        announce()
        return empty(204)
      },
    ),
  ]
}
