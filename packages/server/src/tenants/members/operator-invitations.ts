/** Invitations by an operator's command, for a person without another way in, such as an owner without a password. */
import type { InvitationShown } from '@steward/protocol/people.ts'
import { EmailBody } from '@steward/protocol/people.ts'
import type { Clock } from '@steward/base/time.ts'
import type { OpenDatabases } from '../../ground/database/database.ts'
import type { Role } from '../../ground/core/security/roles.ts'
import { workspaceId } from '../workspaces/create.ts'
import { invitationEnd, invitationUrl, newInvitationToken } from './invitations.ts'
import { invitationStore, showInvitation } from './store.ts'

/** Creates an invitation. `workspace`: an id or a name. Only this answer shows the link. */
export async function inviteByOperator(
  { databases, clock }: { databases: OpenDatabases; clock: Clock },
  given: { workspace: string; role: Role; email?: string | undefined; base: string },
): Promise<InvitationShown & { workspace: string; url: string }> {
  const email = given.email === undefined ? null : addressOf(given.email)
  const now = clock.now()
  const token = newInvitationToken()
  const row = await databases.control.write(async (tx) =>
    invitationStore(tx).create(
      await workspaceId(tx, given.workspace),
      {
        email,
        isMailed: false,
        role: given.role,
        token,
        invitedBy: null,
        expiresAt: invitationEnd(now),
      },
      now,
    ),
  )
  return {
    ...showInvitation(row),
    workspace: row.tenant_id,
    url: invitationUrl(given.base, token),
  }
}

function addressOf(email: string): string {
  const { data } = EmailBody.safeParse({ email })
  if (!data) throw new Error(`--email: ${JSON.stringify(email)} is no address`)
  return data.email
}
