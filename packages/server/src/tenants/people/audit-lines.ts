/** Audit lines about people and their sign-ins, written in the units of the changes. */
import type { AuditActor } from '../../ground/core/security/audited-call.ts'
import { isAudited, auditChange } from '../../ground/core/security/audited-call.ts'
import type { Reads } from '../../ground/database/database.ts'

/** Lines of the deployment's chain: a person can belong to several workspaces. */
const ofDeployment = { workspace: '' }

/** The actor with the present name and address: the person may be deleted later. */
export async function personActor(db: Reads, id: string): Promise<AuditActor> {
  const person = await db
    .selectFrom('people')
    .select(['name', 'email'])
    .where('id', '=', id)
    .executeTakeFirst()
  return { type: 'user', id, name: person ? `${person.name} <${person.email}>` : null }
}

export async function auditSignIn(db: Reads, id: string, person: string): Promise<void> {
  if (!isAudited()) return
  const actor = await personActor(db, person)
  auditChange({ ...ofDeployment, action: 'sign_in.create', type: 'sign_in', id, actor })
}

export function auditEndOfSignIns(person: string, ended: number): void {
  if (ended === 0) return
  const about = { type: 'user', id: person, after: { sign_ins_ended: ended } }
  auditChange({ ...ofDeployment, action: 'sign_in.end', ...about })
}

export async function auditPassword(db: Reads, person: string): Promise<void> {
  if (!isAudited()) return
  const actor = await personActor(db, person)
  auditChange({ ...ofDeployment, action: 'user.set_password', type: 'user', id: person, actor })
}

export function auditNewPerson(id: string, after: { email: string; name: string }): void {
  const actor = { type: 'user', id, name: `${after.name} <${after.email}>` } as const
  auditChange({ ...ofDeployment, action: 'user.create', type: 'user', id, after, actor })
}

/** Writes an accepted invitation to the chain of the workspace that the person joins. */
export async function auditAcceptance(
  db: Reads,
  {
    workspace,
    invitation,
    person,
    role,
  }: Record<'workspace' | 'invitation' | 'person' | 'role', string>,
): Promise<void> {
  if (!isAudited()) return
  const actor = await personActor(db, person)
  const after = { role, accepted_by: person }
  const about = { type: 'invitation', id: invitation, after, actor }
  auditChange({ workspace, action: 'invitation.accept', ...about })
}
