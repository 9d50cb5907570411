import { z } from 'zod'
import { exampleIds } from './example-ids.ts'
import { CreatedAt, Line, Timestamp } from './primitives.ts'

export const memberRoles = ['viewer', 'reviewer', 'member', 'admin', 'owner'] as const
const Role = z
  .enum(memberRoles)
  .describe(
    'A viewer reads. A reviewer also starts sessions of stored agents, writes to them and answers their approvals. A member does what a workspace key does. An admin does what a workspace-admin key does. An owner also archives and deletes the workspace, and names owners.',
  )

const Email = z
  .string()
  .trim()
  .toLowerCase()
  .max(254)
  .pipe(z.email())
  .describe('An address, in any case.')
const Password = z.string().min(10).max(128).describe('10 to 128 characters.')
const given = (what: string) => z.string().min(1).max(256).describe(what)

const Person = z.object({
  id: z.string(),
  type: z.literal('user'),
  email: z.string(),
  name: z.string(),
})

export const Me = z
  .object({
    user: Person.nullable().describe(
      'Null for an API key and for a token of an identity provider.',
    ),
    workspaces: z
      .array(
        z.object({
          id: z.string(),
          name: z.string(),
          role: Role,
          archived_at: Timestamp.nullable(),
        }),
      )
      .describe('The workspaces that the caller belongs to.'),
    active_workspace_id: z
      .string()
      .nullable()
      .describe('The workspace of this request; null where the caller has to choose one.'),
  })
  .meta({ id: 'Me', description: 'Who calls, and in which workspaces.' })
export type Me = z.infer<typeof Me>

export const SignInByPassword = z
  .strictObject({ email: Email, password: given('The password.') })
  .meta({
    id: 'SignInByPasswordParams',
    examples: [{ email: 'ada@example.com', password: 'correct horse battery' }],
  })

export const SignInByCode = z
  .strictObject({ email: Email, code: given('The six digits of the email.') })
  .meta({ id: 'SignInByCodeParams', examples: [{ email: 'ada@example.com', code: '123456' }] })

export const EmailBody = z.strictObject({ email: Email }).meta({
  id: 'LetterParams',
  description: 'The address to send an email to.',
  examples: [{ email: 'ada@example.com' }],
})

export const LetterRequested = z
  .object({ type: z.literal('letter_requested') })
  .meta({ id: 'LetterRequested', description: 'The same for an address that nobody has.' })

export const PasswordReset = z
  .strictObject({ token: given('The token of the link.'), new_password: Password })
  .meta({
    id: 'PasswordResetParams',
    examples: [{ token: 'PdQ6wq3mJ0ZcW1sYvT2xLk9a', new_password: 'correct horse battery' }],
  })

export const PasswordChange = z
  .strictObject({ current_password: given('The password until now.'), new_password: Password })
  .meta({
    id: 'PasswordChangeParams',
    examples: [
      { current_password: 'correct horse battery', new_password: 'another horse battery' },
    ],
  })

export const WorkspaceChoice = z
  .strictObject({ workspace_id: given('A workspace that you are a member of.') })
  .meta({
    id: 'WorkspaceChoiceParams',
    examples: [{ workspace_id: exampleIds.workspace }],
  })

export const SignInShown = z
  .object({
    id: z.string(),
    type: z.literal('sign_in'),
    current: z.boolean().describe('Whether it is the one of this request.'),
    ip_address: z
      .string()
      .nullable()
      .describe('The address from which the person signed in, or null.'),
    user_agent: z.string().nullable(),
    expires_at: Timestamp.describe('When the sign-in ends by itself.'),
    created_at: CreatedAt,
  })
  .meta({ id: 'SignIn', description: 'A browser in which a person is signed in.' })

export const SignIns = z
  .object({ data: z.array(SignInShown) })
  .meta({ id: 'SignInList', description: 'Where a person is signed in.' })

export const InvitationCreate = z
  .strictObject({
    role: Role,
    email: Email.nullish().describe(
      'Whom to invite; left out, whoever has the link names an address.',
    ),
  })
  .meta({ id: 'InvitationCreateParams', examples: [{ email: 'ada@example.com', role: 'member' }] })

export const InvitationShown = z
  .object({
    id: z.string(),
    type: z.literal('invitation'),
    email: z.string().nullable(),
    role: Role,
    invited_by: z
      .string()
      .nullable()
      .describe('The person or key that has invited; null for an operator.'),
    accepted_by: z.string().nullable().describe('The person who has accepted, or null.'),
    accepted_at: Timestamp.nullable().describe('When the invitation was accepted, or null.'),
    expires_at: Timestamp.describe('When the link ends.'),
    created_at: CreatedAt,
  })
  .meta({ id: 'Invitation', description: 'An invitation, without its link.' })
export type InvitationShown = z.infer<typeof InvitationShown>

export const InvitationCreated = InvitationShown.extend({
  url: z.string().describe('The link. It opens once; no other answer contains it.'),
  mailed: z.boolean().describe('Whether the link was sent to the address too.'),
}).meta({ id: 'InvitationWithLink', description: 'An invitation with its link.' })

export const InvitationAccept = z
  .strictObject({
    token: given('The last part of the link.'),
    email: Email.nullish(),
    name: Line.min(1).max(256).nullish().describe('Of a person who is new here.'),
    password: Password.nullish().describe('Of a person who is new here.'),
  })
  .meta({
    id: 'InvitationAcceptParams',
    examples: [
      { token: 'PdQ6wq3mJ0ZcW1sYvT2xLk9a', name: 'Ada', password: 'correct horse battery' },
    ],
  })
export type InvitationAccept = z.infer<typeof InvitationAccept>

export const MemberShown = z
  .object({
    id: z.string().describe('Of the person.'),
    type: z.literal('member'),
    email: z.string(),
    name: z.string(),
    role: Role,
    identity_provider: z
      .string()
      .nullable()
      .describe(
        "The company's identity provider whose groups give the membership, or null where people do.",
      ),
    created_at: CreatedAt,
  })
  .meta({ id: 'Member', description: 'A person who belongs to the workspace.' })
export type MemberShown = z.infer<typeof MemberShown>

export const MemberUpdate = z
  .strictObject({ role: Role })
  .meta({ id: 'MemberUpdateParams', examples: [{ role: 'admin' }] })

const KeyOfDeparted = z.object({
  id: z.string(),
  workspace_id: z.string(),
  name: z.string(),
  kind: z.enum(['workspace', 'environment']).describe('`environment` for a key of workers.'),
  admin: z.boolean().describe('Whether it is a workspace-admin key.'),
  preview: z.string().describe('Enough of the key to recognise it.'),
  last_used_at: Timestamp.nullable().describe('When the key was last used, or null.'),
})
export type KeyOfDeparted = z.infer<typeof KeyOfDeparted>

export const MemberUpdated = MemberShown.extend({
  keys: z
    .array(KeyOfDeparted)
    .describe(
      'Where the role became smaller: keys that the person has made, which were valid until now. They open the workspace as before, unless they were revoked.',
    ),
  revoked: z.boolean().describe('Whether these keys were revoked.'),
}).meta({ id: 'MemberUpdated', description: 'A member with the new role.' })

const departed = {
  id: z.string().describe('Of the person.'),
  keys: z
    .array(KeyOfDeparted)
    .describe('Keys that the person has made, which were valid until now.'),
  revoked: z.boolean().describe('Whether these keys were revoked.'),
}

export const DepartureQuery = z.object({
  revoke_keys: z
    .enum(['true', 'false'])
    .optional()
    .describe('Whether keys that the person has made are revoked; `false` when absent.'),
})
export type DepartureQuery = z.infer<typeof DepartureQuery>

export const PersonDeleteQuery = DepartureQuery.extend({
  confirm: z.string().describe('Your email address, so that no account is deleted by mistake.'),
})

export const MemberRemoved = z
  .object({ type: z.literal('member_deleted'), ...departed })
  .meta({ id: 'MemberRemoved', description: 'A person who belongs to the workspace no more.' })

export const PersonDeleted = z
  .object({ type: z.literal('person_deleted'), ...departed })
  .meta({ id: 'PersonDeleted', description: 'A person who has no account any more.' })
