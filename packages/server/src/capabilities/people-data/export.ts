/**
 * What the service holds about a person, as lines of JSON: one for each row, whose `type` says what it is. It holds no
 * contents of sessions, which belong to their workspaces, and no secret.
 */
import { iso } from '@steward/base/time.ts'
import { notFound } from '../../ground/core/errors.ts'
import { isIdOf } from '../../ground/core/text/ids.ts'
import type { Databases, Reads } from '../../ground/database/database.ts'
import { shownLine } from '../../tenants/audit/lines.ts'
import type { LineRow } from '../../tenants/audit/store.ts'
import { lineStore } from '../../tenants/audit/store.ts'

const rowsAtOnce = 500

type PersonLine = { type: string } & Readonly<Record<string, unknown>>
type ReadRows<Row> = (after: string) => Promise<Row[]>

/** Everything that control holds about the person. */
type ControlPart = (control: Reads, person: PersonRef) => AsyncIterable<PersonLine>
/** Everything that a workspace holds about the person. */
type WorkspacePart = (read: Reads, tenant: string, person: PersonRef) => AsyncIterable<PersonLine>

/** `email`: null for a subject whose provider names none. */
type PersonRef = { id: string; email: string | null }

/** A kind of row about people of the whole deployment has its line here. */
const ofControl: readonly ControlPart[] = [account, atProviders, access, work, deploymentLines]
/** A kind of row about people that a workspace has has its line here. */
const ofWorkspaces: readonly WorkspacePart[] = [sessions, versions, workspaceLines]

/**
 * `workspaces`: those whose rows the reader may see. Throws `not_found` before the first line for a person who does not
 * exist.
 */
export async function exportPerson(
  databases: Pick<Databases, 'control' | 'open'>,
  id: string,
  workspaces: (control: Reads) => Promise<readonly string[]>,
): Promise<AsyncGenerator<string>> {
  const { control } = databases
  // Subjects of identity providers have no account here.
  const row = await control.read
    .selectFrom(isIdOf('subject', id) ? 'subjects' : 'people')
    .select(['id', 'email'])
    .where('id', '=', id)
    .executeTakeFirst()
  if (!row) throw notFound('person', id)
  const tenants = await workspaces(control.read)
  return linesOf(row)

  async function* linesOf(person: PersonRef): AsyncGenerator<string> {
    for (const part of ofControl)
      for await (const line of part(control.read, person)) yield `${JSON.stringify(line)}\n`
    for (const tenant of tenants) {
      const { read } = await databases.open(tenant)
      for (const part of ofWorkspaces)
        for await (const line of part(read, tenant, person)) yield `${JSON.stringify(line)}\n`
    }
  }
}

/** For an operator. */
export const allWorkspaces = (control: Reads): Promise<string[]> => lineStore(control).tenants()

/** Attack: a person who has left a workspace would read on what happens there. */
export const ownWorkspaces =
  (person: string) =>
  async (control: Reads): Promise<string[]> => {
    const rows = await control
      .selectFrom('members')
      .innerJoin('workspaces', 'workspaces.id', 'members.tenant_id')
      .select('workspaces.id')
      .where('members.person_id', '=', person)
      .where('workspaces.deleted_at', 'is', null)
      .where('workspaces.archived_at', 'is', null)
      .orderBy('workspaces.id')
      .execute()
    return rows.map(({ id }) => id)
  }

async function* account(control: Reads, { id }: PersonRef): AsyncGenerator<PersonLine> {
  const person = await control
    .selectFrom('people')
    .select(['id', 'email', 'email_verified', 'name', 'operator', 'created_at', 'updated_at'])
    .where('id', '=', id)
    .executeTakeFirst()
  if (person)
    yield {
      type: 'person',
      ...person,
      email_verified: person.email_verified === 1,
      operator: person.operator === 1,
    }
  const signIns = await control
    .selectFrom('sign_ins')
    .select(['id', 'workspace_id', 'ip_address', 'user_agent', 'expires_at', 'created_at'])
    .where('person_id', '=', id)
    .orderBy('id')
    .execute()
  for (const row of signIns) yield { type: 'sign_in', ...row }
  const accounts = await control
    .selectFrom('sign_in_accounts')
    .select(['id', 'provider_id', 'account_id', 'created_at', 'updated_at'])
    .where('person_id', '=', id)
    .orderBy('id')
    .execute()
  for (const row of accounts) yield { type: 'sign_in_account', ...row }
}

/** What the company's identity providers have said of the person, without their tokens. */
async function* atProviders(control: Reads, { id, email }: PersonRef): AsyncGenerator<PersonLine> {
  const grants = await control
    .selectFrom('provider_grants')
    .select(['provider_id', 'subject', 'confirmed_ms'])
    .where('person_id', '=', id)
    .orderBy('provider_id')
    .execute()
  for (const { confirmed_ms: ms, ...row } of grants)
    yield { type: 'provider_grant', ...row, confirmed_at: iso(Number(ms)) }
  const subjects = await control
    .selectFrom('subjects')
    .select(['id', 'issuer', 'subject', 'provider_id', 'name', 'email', 'seen_ms', 'created_at'])
    .where((eb) => eb.or([eb('id', '=', id), eb('email', '=', email ?? '')]))
    .orderBy('id')
    .execute()
  for (const { seen_ms: ms, ...row } of subjects)
    yield { type: 'subject', ...row, seen_at: iso(Number(ms)) }
}

/** Memberships and invitations. */
async function* access(control: Reads, { id, email }: PersonRef): AsyncGenerator<PersonLine> {
  const memberships = await control
    .selectFrom('members')
    .innerJoin('workspaces', 'workspaces.id', 'members.tenant_id')
    .select(['workspaces.id as workspace_id', 'workspaces.name as workspace_name', 'members.role'])
    .select(['members.created_at', 'members.looked_ms'])
    .where('members.person_id', '=', id)
    .where('workspaces.deleted_at', 'is', null)
    .orderBy('workspaces.id')
    .execute()
  for (const { looked_ms, ...row } of memberships)
    yield {
      type: 'membership',
      ...row,
      looked_at: looked_ms === null ? null : iso(Number(looked_ms)),
    }
  const invitations = await control
    .selectFrom('invitations')
    .select(['id', 'tenant_id as workspace_id', 'email', 'role', 'invited_by'])
    .select(['accepted_by', 'accepted_at', 'expires_at', 'created_at'])
    .where((eb) =>
      eb.or([eb('email', '=', email ?? ''), eb('accepted_by', '=', id), eb('invited_by', '=', id)]),
    )
    .orderBy('id')
    .execute()
  for (const row of invitations) yield { type: 'invitation', ...row }
}

/** Keys that the person has made, without their values, and views of lists. */
async function* work(control: Reads, { id }: PersonRef): AsyncGenerator<PersonLine> {
  const keys = await control
    .selectFrom('api_keys')
    .select(['id', 'tenant_id as workspace_id', 'kind', 'name', 'preview', 'created_at'])
    .select(['last_used_at', 'expires_at', 'revoked_at'])
    .where('created_by', '=', id)
    .orderBy('id')
    .execute()
  for (const row of keys) yield { type: 'api_key', ...row }
  const views = await control
    .selectFrom('saved_views')
    .select(['id', 'tenant_id as workspace_id', 'name', 'filters', 'created_at'])
    .where('owner_id', '=', id)
    .orderBy('id')
    .execute()
  for (const row of views) yield { type: 'view', ...row }
}

async function* deploymentLines(control: Reads, person: PersonRef): AsyncGenerator<PersonLine> {
  yield* workspaceLines(control, '', person)
}

/** Lines of the audit by the person and about the person. */
async function* workspaceLines(
  read: Reads,
  tenant: string,
  { id }: PersonRef,
): AsyncGenerator<PersonLine> {
  const page: ReadRows<LineRow> = (after) =>
    read
      .selectFrom('audit_lines')
      .selectAll()
      .where('tenant_id', '=', tenant)
      .where((eb) => eb.or([eb('actor_id', '=', id), eb('resource_id', '=', id)]))
      .where('id', '>', after)
      .orderBy('id')
      .limit(rowsAtOnce)
      .execute()
  for await (const row of paged(page)) yield shownLine(row)
}

async function* sessions(
  read: Reads,
  tenant: string,
  { id }: PersonRef,
): AsyncGenerator<PersonLine> {
  const page = (after: string) =>
    read
      .selectFrom('sessions')
      .select(['id', 'tenant_id as workspace_id', 'title', 'agent_id', 'created_at', 'updated_at'])
      .where('tenant_id', '=', tenant)
      .where('creator_id', '=', id)
      .where('deleted_at', 'is', null)
      .where('id', '>', after)
      .orderBy('id')
      .limit(rowsAtOnce)
      .execute()
  for await (const row of paged(page)) yield { type: 'session', ...row }
}

/** Versions of agents, and of memories, that the person has made. */
async function* versions(
  read: Reads,
  tenant: string,
  { id }: PersonRef,
): AsyncGenerator<PersonLine> {
  const ofAgents = await read
    .selectFrom('agent_versions')
    .select(['agent_id', 'tenant_id as workspace_id', 'version', 'created_at'])
    .where('tenant_id', '=', tenant)
    .where('creator_id', '=', id)
    .orderBy('agent_id')
    .orderBy('version')
    .execute()
  for (const row of ofAgents) yield { type: 'agent_version', ...row }
  const page = (after: string) =>
    read
      .selectFrom('memory_versions')
      .select(['id', 'tenant_id as workspace_id', 'store_id', 'memory_id', 'path', 'created_at'])
      .where('tenant_id', '=', tenant)
      .where('api_key_id', '=', id)
      .where('id', '>', after)
      .orderBy('id')
      .limit(rowsAtOnce)
      .execute()
  for await (const row of paged(page)) yield { type: 'memory_version', ...row }
}

/** The rows of all pages. Holds one page in memory. */
async function* paged<Row extends { id: string }>(page: ReadRows<Row>): AsyncGenerator<Row> {
  for (let [after, isMore] = ['', true]; isMore;) {
    const rows = await page(after)
    yield* rows
    after = rows.at(-1)?.id ?? after
    isMore = rows.length === rowsAtOnce
  }
}
