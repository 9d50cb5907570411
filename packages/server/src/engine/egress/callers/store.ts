/** Rows that the MCP proxy reads: a session's pinned agent, its environment, and inline tokens. */
import type { Reads } from '../../../ground/database/database.ts'
import type { SlotFor } from '../../../ground/database/statement.ts'
import { selectStatement } from '../../../ground/database/statement.ts'
import type { Tables } from '../../../ground/database/tables.ts'
import type { SealedTokens } from '../../../ground/database/tables/agents.ts'
import { toJson } from '../../../ground/core/text/json-text.ts'
import type { Json } from '../../../ground/core/text/json-text.ts'
import type { SessionRef } from '../../../ground/core/refs.ts'

export type PinnedSession = Awaited<ReturnType<typeof pinnedStatement>>[number]

const pinnedStatement = selectStatement((db, slot: SlotFor<SessionRef>) =>
  db
    .selectFrom('sessions as s')
    .innerJoin('environments as e', (on) =>
      on.onRef('e.tenant_id', '=', 's.tenant_id').onRef('e.id', '=', 's.environment_id'),
    )
    .leftJoin('agent_versions as v', (on) =>
      on
        .onRef('v.tenant_id', '=', 's.tenant_id')
        .onRef('v.agent_id', '=', 's.agent_id')
        .onRef('v.version', '=', 's.agent_version'),
    )
    .select(['s.tenant_id', 's.id', 's.agent', 's.sealed_tokens', 'e.record'])
    .select('v.sealed_tokens as version_tokens')
    .where(
      's.tenant_id',
      '=',
      slot(({ tenant }) => tenant),
    )
    .where(
      's.id',
      '=',
      slot(({ session }) => session),
    )
    .where('s.deleted_at', 'is', null),
)

/** Undefined when the session is absent, deleted, or of another tenant. */
export async function readPinnedSession(
  read: Reads,
  tenant: string,
  session: string,
): Promise<PinnedSession | undefined> {
  const [row] = await pinnedStatement(read, { tenant, session })
  return row
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
