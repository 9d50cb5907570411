/** Tokens by which an agent proves who it is. They go out with a call, and enter neither a sandbox nor a model. */
import { randomUUID } from 'node:crypto'
import type { SessionRef } from '../../../ground/core/refs.ts'
import type { AuditActor } from '../../../ground/core/security/audited-call.ts'
import type { Reads } from '../../../ground/database/database.ts'
import type { Ground } from '../../../ground/ground.ts'
import { findOrigins, isPerson } from '../../../tenants/audit/acting.ts'
import type { CredentialSecrets } from '../../../resources/vaults/auth.ts'
import type { CredentialRow } from '../../../resources/vaults/credentials.ts'
import type { IdentityRow } from '../policy/credential.ts'
import { isAgentIdentity } from '../policy/credential.ts'
import type { AgentIdentity } from './keys.ts'

const mostKept = 10_000

/** The token of the session's agent. Undefined where the session is gone. */
type IdentitySource = (session: SessionRef, row: IdentityRow) => Promise<string | undefined>

type OpenForCall = (row: CredentialRow, session: string | null) => Promise<CredentialSecrets>

/** Opens an identity by making its token. Where an MCP server is tried, no agent calls: there is none. */
export const withAgentTokens =
  (others: OpenForCall, identify: IdentitySource): OpenForCall =>
  async (row, session) => {
    if (!isAgentIdentity(row)) return others(row, session)
    const token =
      session === null ? undefined : await identify({ tenant: row.tenant_id, session }, row)
    return token === undefined ? {} : { token }
  }

/** `sub` stays the same for all versions and sessions of the agent. */
export const agentSubject = (tenant: string, agent: string): string =>
  `workspace:${tenant}:agent:${agent}`

type AgentFacts = { agent_id: string; agent_version: number; person: AuditActor | null }

async function factsOf(
  db: Reads,
  { tenant, session }: SessionRef,
): Promise<AgentFacts | undefined> {
  const row = await db
    .selectFrom('sessions')
    .select(['agent_id', 'agent_version', 'creator_type', 'creator_id', 'creator_name'])
    .where('tenant_id', '=', tenant)
    .where('id', '=', session)
    .executeTakeFirst()
  if (!row) return undefined
  const { agent_id, agent_version } = row
  const made =
    row.creator_type === null
      ? undefined
      : { type: row.creator_type, id: row.creator_id, name: row.creator_name }
  if (made && isPerson(made)) return { agent_id, agent_version, person: made }
  const origin = (await findOrigins(db, tenant, [session])).get(session)
  const person = origin && isPerson(origin.actor) ? origin.actor : (origin?.on_behalf_of ?? null)
  return { agent_id, agent_version, person }
}

export function agentTokens({
  identity,
  databases,
  clock,
}: Pick<Ground, 'databases' | 'clock'> & { identity: AgentIdentity }): IdentitySource {
  /** SECRET: never logged. A token is sent again until half of its time is over. */
  const kept = new Map<string, { token: string; untilMs: number }>()

  async function mint(ref: SessionRef, { auth }: IdentityRow): Promise<string | undefined> {
    const facts = await factsOf((await databases.open(ref.tenant)).read, ref)
    if (!facts) return undefined
    const now = clock.now()
    const { kid, privateKey } = identity.signingKey(now)
    const issued = Math.floor(now / 1_000)
    // Loaded by the first agent that proves who it is.
    const { SignJWT } = await import('jose')
    return new SignJWT({
      workspace: ref.tenant,
      agent: facts.agent_id,
      agent_version: facts.agent_version,
      session: ref.session,
      ...(facts.person && { on_behalf_of: facts.person }),
      ...(Object.keys(auth.claims).length > 0 && { claims: auth.claims }),
    })
      .setProtectedHeader({ alg: 'ES256', typ: 'JWT', kid })
      .setIssuer(identity.issuer)
      .setSubject(agentSubject(ref.tenant, facts.agent_id))
      .setAudience(auth.audience)
      .setIssuedAt(issued)
      .setExpirationTime(issued + auth.ttl_seconds)
      .setJti(randomUUID())
      .sign(privateKey)
  }

  return async (ref, row) => {
    const key = `${ref.tenant} ${ref.session} ${row.id} ${row.revision}`
    const now = clock.now()
    const found = kept.get(key)
    if (found && found.untilMs > now) return found.token
    const token = await mint(ref, row)
    if (token === undefined) return undefined
    if (kept.size >= mostKept) kept.clear()
    kept.set(key, { token, untilMs: now + (row.auth.ttl_seconds * 1_000) / 2 })
    return token
  }
}
