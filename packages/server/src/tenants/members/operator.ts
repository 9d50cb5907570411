/** What an operator does by command: lets a person in who has no other way, such as an owner who lost the password. */
import type { InvitationShown } from '@steward/protocol/people.ts'
import type { Clock } from '@steward/base/time.ts'
import type { OpenDatabases } from '../../ground/database/database.ts'
import type { Role } from '../../ground/http/principal.ts'
import { workspaceId } from '../workspaces/create.ts'
import { invitationEnds, invitationUrl, newInvitationToken } from './invitations.ts'
import { invitationStore, shownInvitation } from './store.ts'

/** An invitation to a workspace, named by its id or its name. The link is shown here and never again. */
export async function inviteByOperator(
  { databases, clock }: { databases: OpenDatabases; clock: Clock },
  given: { workspace: string; role: Role; email?: string | undefined; base: string },
): Promise<InvitationShown & { workspace: string; url: string }> {
  const now = clock.now()
  const token = newInvitationToken()
  const row = await databases.control.write(async (tx) =>
    invitationStore(tx).create(
      await workspaceId(tx, given.workspace),
      {
        email: given.email?.trim().toLowerCase() ?? null,
        isMailed: false,
        role: given.role,
        token,
        invitedBy: null,
        expiresAt: invitationEnds(now),
      },
      now,
    ),
  )
  return {
    ...shownInvitation(row),
    workspace: row.tenant_id,
    url: invitationUrl(given.base, token),
  }
}
