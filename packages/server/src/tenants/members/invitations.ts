/** Invitations: people join by a link that opens once, never by being first on the network. */
import { createHmac, randomBytes } from 'node:crypto'
import type { InvitationAccept } from '@steward/protocol/people.ts'
import { conflict, forbidden, invalid } from '../../ground/core/errors.ts'
import { isSameSecret } from '../../ground/core/security/token.ts'
import type { Database, Queries } from '../../ground/database/database.ts'
import { lockAdvisory } from '../../ground/database/lock.ts'
import type { Ground } from '../../ground/ground.ts'
import { memberStore } from '../people/members/store.ts'
import type { OpenInvitations, People } from '../people/people.ts'
import { checkOwnWays } from '../people/actions.ts'
import { beginSignIn } from '../people/people.ts'
import type { SignIn } from '../people/authenticate.ts'
import type { Visitor } from '../people/library/library.ts'
import { peopleStore } from '../people/store.ts'
import { auditAcceptance } from '../people/audit-lines.ts'
import { firstWorkspace } from '../workspaces/create.ts'
import type { InvitationRow, NewInvitation } from './store.ts'
import { firstOwner, invitationStore } from './store.ts'
import { notifyOfPeople } from '../people/authenticate.ts'

const invitationMs = 7 * 24 * 60 * 60 * 1_000

/** 192 random bits. */
export const newInvitationToken = (): string => randomBytes(24).toString('base64url')

/** The token stands behind `#`, where no server, proxy or log of requests sees it. */
export const invitationUrl = (base: string, token: string): string =>
  `${base}/signin/invitation#${token}`

/** The token in a mailed link. The inviter does not know its suffix, so only the letter proves its address. */
export function letterToken(key: Buffer, token: string): string {
  const mark = createHmac('sha256', key).update(`letter ${token}`).digest('base64url')
  return `${token}.${mark.slice(0, 22)}`
}

function isOfLetter(key: Buffer, given: string): boolean {
  const [token = ''] = given.split('.')
  return isSameSecret(given, letterToken(key, token))
}

export const invitationEnd = (now: number): number => now + invitationMs

/** A link for the first owner, while nobody has signed in. Earlier links stay valid until somebody has. */
export async function inviteFirstOwner(
  control: Database,
  { now }: { now: number },
): Promise<string | undefined> {
  if (await peopleStore(control.read).isAnybodyThere()) return undefined
  const token = newInvitationToken()
  const made: NewInvitation = {
    email: null,
    isMailed: false,
    role: 'owner',
    token,
    invitedBy: null,
    expiresAt: invitationEnd(now),
  }
  await control.write((tx) => invitationStore(tx).create(firstOwner, made, now))
  return token
}

/** Invitations for people of an identity provider that vouches for their address. */
export const openInvitations = ({ databases: { control }, clock }: Ground): OpenInvitations => ({
  async isInvited(email) {
    const open = await invitationStore(control.read).ofEmail(email, clock.now())
    return open.length > 0
  },
  join: (person) => control.write((tx) => joinInvited(tx, person, clock.now())),
})

/** Makes the person a member of each workspace that invited the address. */
export async function joinInvited(
  tx: Queries,
  { id, email }: { id: string; email: string },
  now: number,
): Promise<void> {
  for (const invitation of await invitationStore(tx).ofEmail(email, now)) {
    // The invitation may be withdrawn since it was read.
    if (!(await invitationStore(tx).markAccepted(invitation, id, now))) continue
    const { tenant_id: workspace, role } = invitation
    await memberStore(tx).add(workspace, id, role, now)
    await auditAcceptance(tx, { workspace, invitation: invitation.id, person: id, role })
  }
}

const usedInvitation = () =>
  conflict('the invitation was used, was withdrawn or has expired: ask for another one')

export type InvitationAcceptance = InvitationAccept & {
  visitor: Visitor
  signIn: SignIn | undefined
}

/** The person who accepts the invitation: the signed-in person, or a new one. */
async function personFor(
  tx: Queries,
  invitation: InvitationRow,
  {
    signIn,
    email,
    isProved,
    name,
    hash,
    now,
  }: {
    signIn: SignIn | undefined
    email: string
    isProved: boolean
    name: string | null | undefined
    hash: string | undefined
    now: number
  },
): Promise<string> {
  const isFirst = invitation.tenant_id === firstOwner
  if (isFirst) {
    await lockAdvisory(tx, 'the first owner')
    if (await peopleStore(tx).isAnybodyThere())
      throw conflict('somebody has signed in here before: ask an owner for an invitation')
  }
  if (signIn) return signIn.person.id
  if (await peopleStore(tx).byEmail(email))
    throw conflict('sign in first, then open the link again: this address is known here')
  if (!name || !hash) throw invalid('name, password: a person who is new here gives both')
  const isEmailVerified =
    isFirst || (isProved && invitation.mailed === 1 && invitation.email === email)
  const made = { email, name, isEmailVerified, isOperator: isFirst, passwordHash: hash }
  return peopleStore(tx).create(made, now)
}

function checkAddress(
  { email }: InvitationRow,
  signIn: SignIn | undefined,
  given: InvitationAccept['email'],
): void {
  if (email === null) return
  if (signIn && signIn.person.email !== email)
    throw forbidden(
      'the invitation is for another address than that of your sign-in: sign out, and open the link again',
    )
  if (given && given !== email)
    throw invalid('email: the invitation is for another address; leave email out')
}

/** Makes the holder of the link a member and signs the person in. Returns the token of the sign-in. */
export async function acceptInvitation(
  people: People,
  { token, name, password, visitor, signIn, ...given }: InvitationAcceptance,
): Promise<string> {
  const { databases, clock, key, library } = people
  if (!signIn) checkOwnWays(people)
  const { control } = databases
  const now = clock.now()
  const invitation = await invitationStore(control.read).byToken(token, now)
  if (!invitation) throw usedInvitation()
  checkAddress(invitation, signIn, given.email)
  const email = invitation.email ?? signIn?.person.email ?? given.email
  if (!email) throw invalid('email: the invitation names no address, so name yours')
  const hash =
    !signIn && password ? await (await library()).hashPassword(password, visitor) : undefined
  const isProved = isOfLetter(key, token)
  return control.write(async (tx) => {
    const consumed = await invitationStore(tx).consume(token, now)
    if (!consumed) throw usedInvitation()
    const person = await personFor(tx, consumed, { signIn, email, isProved, name, hash, now })
    const workspace =
      consumed.tenant_id === firstOwner ? await firstWorkspace(tx, now) : consumed.tenant_id
    await invitationStore(tx).markAccepted(consumed, person, now)
    await memberStore(tx).add(workspace, person, consumed.role, now)
    notifyOfPeople(tx)
    await auditAcceptance(tx, { workspace, invitation: consumed.id, person, role: consumed.role })
    const provider = signIn?.provider ?? null
    return beginSignIn(tx, { person, workspace, provider, visitor, now })
  })
}
