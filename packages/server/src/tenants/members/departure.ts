/** Ends memberships of a person who leaves a workspace or the service, and revokes the person's keys on request. */
import type { KeyOfDeparted } from '@steward/protocol/people.ts'
import { auditChange } from '../../ground/core/security/audited-call.ts'
import { conflict, invalid, notFound } from '../../ground/core/errors.ts'
import { isIdOf } from '../../ground/core/text/ids.ts'
import type { Queries } from '../../ground/database/database.ts'
import type { Role } from '../../ground/core/security/roles.ts'
import { roles } from '../../ground/core/security/roles.ts'
import type { KeyOfPerson } from '../api-keys/store.ts'
import { notifyOfKey } from '../api-keys/authenticate.ts'
import { loginStore } from '../api-keys/logins.ts'
import { apiKeyStore } from '../api-keys/store.ts'
import { notifyOfPeople } from '../people/authenticate.ts'
import { identityStore } from '../people/identities/store.ts'
import { memberStore } from '../people/members/store.ts'
import { personRemovalStore } from '../people/removals.ts'
import { peopleStore } from '../people/store.ts'
import { workspaceStore } from '../workspaces/store.ts'
import { invitationStore } from './store.ts'
import { checkNoMark } from '../../ground/database/holds.ts'

export type Departure = {
  /** Valid keys that the person has created. `revoked`: they were revoked. */
  keys: KeyOfPerson[]
  revoked: boolean
}

type DepartureOptions = {
  revokesKeys: boolean
  now: number
  /** Groups of a company decide: the last owner and the last key go too. */
  isForced?: boolean
}

const isLastOwner = (all: ReadonlyMap<string, Role>, person: string): boolean =>
  all.get(person) === 'owner' && [...all.values()].filter((role) => role === 'owner').length === 1

/** Locks the members, returns the person's role, and ends their open invitations. Throws for the last owner. */
export async function prepareRoleChange(
  tx: Queries,
  tenant: string,
  person: string,
  next?: Role,
): Promise<Role> {
  const all = await memberStore(tx).rolesForUpdate(tenant)
  const role = all.get(person)
  if (!role) throw notFound('member', person)
  const provider = await memberStore(tx).providerOf(tenant, person)
  if (provider !== null)
    throw conflict(
      `the groups at the identity provider ${provider} give this membership: change the groups there, or the rules of IDENTITY_PROVIDERS`,
    )
  if (next !== 'owner' && isLastOwner(all, person))
    throw conflict('this is the last owner of the workspace: name another owner first')
  await invitationStore(tx).removeOpenOf(tenant, person)
  return role
}

/** Call it after `prepareRoleChange`. Returns the person's keys when the role becomes smaller: they keep their full rights. */
export async function setRole(
  tx: Queries,
  tenant: string,
  member: { person: string; before: Role; after: Role },
  options: DepartureOptions,
): Promise<Departure> {
  const { person, before, after } = member
  const isSmaller = roles.indexOf(after) < roles.indexOf(before)
  if (options.revokesKeys && !isSmaller)
    throw invalid('revoke_keys: keys are revoked only where the role becomes smaller')
  await memberStore(tx).setRole(tenant, person, after)
  notifyOfPeople(tx)
  auditChange({ type: 'member', id: person, before: { role: before }, after: { role: after } })
  const keys = isSmaller ? await apiKeyStore(tx).madeBy(person, options.now, tenant) : []
  await endKeys(tx, keys, options)
  return { keys, revoked: options.revokesKeys }
}

/** Call it after `prepareRoleChange`. */
export async function removeMember(
  tx: Queries,
  { tenant, person, ...options }: DepartureOptions & { tenant: string; person: string },
): Promise<Departure> {
  const keys = await apiKeyStore(tx).madeBy(person, options.now, tenant)
  await endKeys(tx, keys, options)
  await endLogins(tx, person, options.now, tenant)
  const member = await memberStore(tx).get(tenant, person)
  await memberStore(tx).remove(tenant, person)
  notifyOfPeople(tx)
  // The line names the person, who may be deleted later.
  auditChange({ type: 'member', id: person, before: member ?? null })
  return { keys, revoked: options.revokesKeys }
}

/**
 * `person`: the id of an account, or of a subject of an identity provider. Agents, sessions and keys stay; a job takes the name out of them. Throws for the last owner of any workspace, archived ones included.
 */
export async function deletePerson(
  tx: Queries,
  person: string,
  options: DepartureOptions,
): Promise<Departure> {
  if (isIdOf('subject', person)) return deleteSubject(tx, person, options)
  const row = await peopleStore(tx).findForUpdate(person)
  if (!row) throw notFound('person', person)
  await checkNoMark(tx, `the person ${person}`, { person })
  const workspaces = [...(await peopleStore(tx).rolesOf(person)).keys()].toSorted()
  const needed: string[] = []
  for (const tenant of workspaces)
    if (isLastOwner(await memberStore(tx).rolesForUpdate(tenant), person)) needed.push(tenant)
  if (needed.length > 0) {
    const rows = await workspaceStore(tx).some(needed)
    const names = rows.map(({ id, name }) => `${name} (${id})`).join(', ')
    throw conflict(
      `${row.email} is the last owner of ${names}: make another member an owner, or archive and delete the workspace, and try again`,
    )
  }
  const keys = await apiKeyStore(tx).madeBy(person, options.now)
  await endKeys(tx, keys, options)
  await endLogins(tx, person, options.now)
  const { email, name } = row
  auditChange({ type: 'user', id: person, before: { email, name } })
  for (const workspace of workspaces)
    auditChange({
      action: 'member.delete',
      type: 'member',
      id: person,
      workspace,
      before: { email, name },
    })
  await invitationStore(tx).forgetPerson(person)
  await memberStore(tx).removePerson(person)
  notifyOfPeople(tx)
  await peopleStore(tx).remove(person)
  await personRemovalStore(tx).ask(person, options.now)
  return { keys, revoked: options.revokesKeys }
}

/** Somebody who came by tokens of an identity provider, and has no account here. */
async function deleteSubject(
  tx: Queries,
  subject: string,
  options: DepartureOptions,
): Promise<Departure> {
  const row = await identityStore(tx).subjectById(subject)
  if (!row) throw notFound('person', subject)
  await checkNoMark(tx, `the person ${subject}`, { person: subject })
  const keys = await apiKeyStore(tx).madeBy(subject, options.now)
  await endKeys(tx, keys, options)
  const { email, name, issuer } = row
  auditChange({ type: 'user', id: subject, before: { email, name, issuer } })
  await identityStore(tx).forgetSubject(subject)
  notifyOfPeople(tx)
  await personRemovalStore(tx).ask(subject, options.now)
  return { keys, revoked: options.revokesKeys }
}

/** Logins end with the membership that they act by, also where keys stay. */
async function endLogins(tx: Queries, person: string, now: number, tenant?: string): Promise<void> {
  for (const login of await loginStore(tx).endAllOf(person, now, tenant)) notifyOfKey(tx, login)
}

/** Throws when a workspace would be left with neither an owner nor an admin key: nobody there could create keys. */
async function endKeys(
  tx: Queries,
  keys: readonly KeyOfPerson[],
  { revokesKeys, now, isForced = false }: DepartureOptions,
): Promise<void> {
  if (!revokesKeys) return
  const store = apiKeyStore(tx)
  for (const tenant of new Set(keys.map((key) => key.tenant_id))) {
    const admins = await store.adminsForUpdate(tenant, now)
    for (const key of keys) {
      if (key.tenant_id !== tenant) continue
      await store.revoke(tenant, key.id, now)
      notifyOfKey(tx, key)
    }
    const isAnyLeft = admins.some((admin) => !keys.some(({ id }) => id === admin))
    if (isForced || isAnyLeft || admins.length === 0) continue
    const members = await memberStore(tx).rolesForUpdate(tenant)
    if (![...members.values()].includes('owner'))
      throw conflict(
        `revoke_keys: the workspace ${tenant} would be left without an owner and without a workspace-admin key: make another one first`,
      )
  }
}

export const showKeys = ({ keys }: Departure): KeyOfDeparted[] =>
  keys.map(({ id, tenant_id, name, kind, admin, preview, last_used_at }) => ({
    id,
    workspace_id: tenant_id,
    name,
    kind,
    admin: admin === 1,
    preview,
    last_used_at,
  }))
