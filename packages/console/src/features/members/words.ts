/** The sentences of the page of members. */
import type { Role } from '../../lib/api/types.ts'

const changed = (count: number): string => (count === 1 ? '1 key' : `${count} keys`)

export const memberWords = {
  title: 'Members',
  count: (people: number, invited: number) =>
    invited === 0 ? String(people) : `${people}, and ${invited} invited`,
  invite: 'Invite somebody',
  newInvitation: 'A new invitation',
  none: 'Nobody has signed in to this workspace yet. The first owner comes in by the link that the server prints at its start.',
  columns: {
    name: 'Member',
    email: 'Email',
    role: 'Role',
    since: 'Since',
    actions: 'What can be done',
    state: 'State',
  },
  you: 'you',
  roleOf: (name: string) => `Role of ${name}`,
  lastOwner: 'The last owner stays: name another owner first',
  change: 'Change the role',
  changeTitle: (name: string, from: Role, to: Role) => `Change ${name} from ${from} to ${to}`,
  may: {
    viewer: 'A viewer reads everything but secrets, and changes nothing.',
    reviewer:
      'A reviewer also starts sessions of stored agents, writes to them and answers their approvals.',
    member: 'A member runs sessions, and makes and changes agents and everything that they use.',
    admin:
      'An admin also invites people, makes keys for workers and admins, sets limits and reads the audit.',
    owner: 'An owner also names and removes owners, and archives the workspace.',
  },
  changed: (name: string, role: Role) => `${name} is ${role} now.`,
  keysStay: (name: string) =>
    `Keys that ${name} has made keep working, with the rights that they have.`,
  revokeKeys: 'Revoke these keys too',
  keysLeft: (name: string) => `Keys that ${name} has made still work`,
  keysLeftHint: 'Programs may use them. Revoke those that nobody needs.',
  keysGone: (count: number) => `${changed(count)} revoked with it.`,
  toKeys: 'Show the keys',
  understood: 'Leave them',
  remove: 'Remove',
  removeOf: (name: string) => `Remove ${name}`,
  removeVerb: 'Remove the member',
  removeText: (name: string) =>
    `${name} reaches this workspace no more, at once. Agents and sessions that ${name} has made stay.`,
  removed: (name: string) => `${name} was removed.`,
  leave: 'Leave',
  leaveTitle: 'Leave this workspace',
  leaveVerb: 'Leave the workspace',
  leaveText:
    'You reach this workspace no more, until somebody invites you again. What you have made stays.',
  ownKeysStay: 'Keys that you have made keep working.',
  invitations: 'Invitations',
  invitationsBeside: 'a link is valid for 7 days, and opens once',
  noInvitation: 'No invitation is open.',
  adminsAlone: 'Admins and owners see the invitations.',
  anybody: 'whoever has the link',
  fields: {
    email: 'Email',
    emailPlaceholder: 'ada@example.com',
    emailHint: 'The person of this address alone can join. Leave it empty for a link for anybody.',
    role: 'Role',
  },
  create: 'Invite',
  made: (email: string | null) =>
    email === null ? 'The invitation' : `The invitation of ${email}`,
  link: 'Link',
  mailed: (email: string) => `An email with another link was sent to ${email}.`,
  notMailed: 'The server sent no email: copy the link, and hand it on.',
  facts: { role: 'Role', ends: 'Ends in', letter: 'Email' },
  states: { accepted: 'accepted', over: 'too old', open: (left: string) => `waits, ${left} left` },
  newLink: 'New link',
  newLinkOf: (email: string) => `Make a new link for ${email}`,
  withdraw: 'Withdraw',
  withdrawOf: (email: string) => `Withdraw the invitation of ${email}`,
  withdrawVerb: 'Withdraw the invitation',
  withdrawText: 'Its link opens nothing from now on.',
  withdrawn: 'The invitation was withdrawn.',
  rolesTitle: 'What a role may',
} as const
