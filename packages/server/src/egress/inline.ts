import type { Seal, Sealed } from '../core/seal.ts'
import type { Queries } from '../database/database.ts'
import type { Tables } from '../database/tables.ts'
import { tokenPlace } from '../sessions/create.ts'
import { versionTokens } from './store.ts'

/** The tokens that stand beside a session's MCP servers, by the servers' names: its own, else the agent version's. */
export async function inlineTokens(
  db: Queries,
  seal: Seal,
  session: Pick<
    Tables['sessions'],
    'tenant_id' | 'id' | 'agent_id' | 'agent_version' | 'sealed_tokens'
  >,
): Promise<Record<string, string>> {
  const { tenant_id: tenant, id, sealed_tokens } = session
  const sealed = sealed_tokens ?? (await versionTokens(db, session))
  const place = (server: string) =>
    sealed_tokens === null
      ? `${tenant}/agent_versions/sealed_tokens`
      : tokenPlace(tenant, id, server)
  const pairs = Object.entries(JSON.parse(sealed) as Record<string, Sealed>)
  return Object.fromEntries(
    pairs.map(([server, token]) => [server, seal.open(token, place(server))]),
  )
}
