/** Rows that the MCP proxy reads: a session's pinned agent, its environment, and inline tokens. */
import type { EnvironmentRecord } from '@steward/protocol/environments.ts'
import { CompiledQuery } from 'kysely'
import type { Database, Reads } from '../../../ground/database/database.ts'
import { selectRaw } from '../../../ground/database/raw.ts'
import type { SealedTokens, Tables } from '../../../ground/database/tables.ts'
import { toJson } from '../../../ground/core/json-text.ts'
import type { Json } from '../../../ground/core/json-text.ts'

export type PinnedSession = Pick<
  Tables['sessions'],
  'tenant_id' | 'id' | 'agent' | 'sealed_tokens'
> & {
  /** The environment's record. */
  record: Json<EnvironmentRecord>
  version_tokens: Json<SealedTokens> | null
}

const pinnedText = { sqlite: pinnedOf('?', '?'), postgres: pinnedOf('$1', '$2') }

function pinnedOf(tenant: string, session: string): string {
  return `select s.tenant_id, s.id, s.agent, s.sealed_tokens, e.record, v.sealed_tokens as version_tokens
    from sessions s
    join environments e on e.tenant_id = s.tenant_id and e.id = s.environment_id
    left join agent_versions v
      on v.tenant_id = s.tenant_id and v.agent_id = s.agent_id and v.version = s.agent_version
    where s.tenant_id = ${tenant} and s.id = ${session} and s.deleted_at is null`
}

/** Undefined when the session is absent, deleted, or of another tenant. */
export async function pinned(
  { dialect, read }: Pick<Database, 'dialect' | 'read'>,
  tenant: string,
  session: string,
): Promise<PinnedSession | undefined> {
  const query = CompiledQuery.raw(pinnedText[dialect], [tenant, session])
  const rows = await selectRaw<PinnedSession>(read, query)
  return rows[0]
}

/** Sealed inline tokens, by server name as JSON, of the agent version that a session is pinned to. */
export async function versionTokens(
  db: Reads,
  session: Pick<Tables['sessions'], 'tenant_id' | 'agent_id' | 'agent_version'>,
): Promise<Json<SealedTokens>> {
  const row = await db
    .selectFrom('agent_versions')
    .select('sealed_tokens')
    .where('tenant_id', '=', session.tenant_id)
    .where('agent_id', '=', session.agent_id)
    .where('version', '=', session.agent_version)
    .executeTakeFirst()
  return row?.sealed_tokens ?? toJson({})
}
