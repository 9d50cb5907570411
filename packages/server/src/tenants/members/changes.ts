/** Changes of the people of a workspace, for both dialects of their routes. */
import type { MemberShown } from '@steward/protocol/people.ts'
import { forbidden, notFound } from '../../ground/core/errors.ts'
import type { Header } from '../../ground/http/caller.ts'
import { lockCaller } from '../../ground/http/locked-caller.ts'
import type { Principal } from '../../ground/http/principal.ts'
import type { Role } from '../../ground/core/security/roles.ts'
import { actorOf, roleOf } from '../../ground/http/principal.ts'
import { memberStore } from '../people/members/store.ts'
import type { People } from '../people/people.ts'
import type { Departure } from './departure.ts'
import { prepareRoleChange, removeMember, setRole } from './departure.ts'
import { invitationEnd, invitationUrl, letterToken, newInvitationToken } from './invitations.ts'
import type { InvitationRow } from './store.ts'
import { invitationStore } from './store.ts'

/** Only an owner makes, changes or removes an owner. */
function checkOwner(principal: Principal, ...concerned: (Role | undefined)[]): void {
  if (concerned.includes('owner') && roleOf(principal) !== 'owner')
    throw forbidden('role: only an owner makes, changes or removes an owner')
}

/** Who changes the people of which workspace. */
type ChangeCall = { tenant: string; principal: Principal }

export function memberChanges(people: People) {
  const { databases, clock, key, mail, origin, base, at } = people
  const { control } = databases

  return {
    /** `url`: the link, which opens once. */
    async invite(
      { tenant, principal, header }: ChangeCall & { header: Header },
      { email, role }: { email: string | null; role: Role },
    ): Promise<{ row: InvitationRow; url: string; mailed: boolean }> {
      const token = newInvitationToken()
      const now = clock.now()
      const isMailed = email !== null && mail.sends
      const made = {
        email,
        isMailed,
        role,
        token,
        invitedBy: actorOf(principal),
        expiresAt: invitationEnd(now),
      }
      const row = await control.write(async (tx) => {
        checkOwner(await lockCaller(tx, principal, 'admin'), role)
        return invitationStore(tx).create(tenant, made, now)
      })
      if (email !== null && isMailed)
        mail.post({
          kind: 'invitation',
          to: email,
          subject: 'You are invited to Steward',
          text: `You are invited to a workspace. Open this link within seven days:\n\n${invitationUrl(base, letterToken(key, token))}\n`,
        })
      return { row, url: invitationUrl(origin.of(header) + at(''), token), mailed: isMailed }
    },

    async withdraw(tenant: string, id: string): Promise<void> {
      await control.write(async (tx) => {
        const isGone = await invitationStore(tx).remove(tenant, id)
        if (!isGone) throw notFound('invitation', id)
      })
    },

    async setRole(
      { tenant, principal }: ChangeCall,
      { person, role, revokesKeys }: { person: string; role: Role; revokesKeys: boolean },
    ): Promise<{ member: MemberShown; changed: Departure }> {
      const { changed, member } = await control.write(async (tx) => {
        const before = await prepareRoleChange(tx, tenant, person, role)
        checkOwner(await lockCaller(tx, principal, 'admin'), role, before)
        const change = { person, before, after: role }
        const changed = await setRole(tx, tenant, change, { revokesKeys, now: clock.now() })
        return { changed, member: await memberStore(tx).get(tenant, person) }
      })
      if (!member) throw notFound('member', person)
      return { member, changed }
    },

    async remove(
      { tenant, principal }: ChangeCall,
      { person, revokesKeys }: { person: string; revokesKeys: boolean },
    ): Promise<Departure> {
      return control.write(async (tx) => {
        const role = await prepareRoleChange(tx, tenant, person)
        checkOwner(await lockCaller(tx, principal, 'admin'), role)
        return removeMember(tx, { tenant, person, revokesKeys, now: clock.now() })
      })
    },
  }
}
