import { agentTokenContext } from '../../../resources/agents/store.ts'
import type { Seal } from '../../../ground/core/security/seal.ts'
import type { Reads } from '../../../ground/database/database.ts'
import type { Tables } from '../../../ground/database/tables.ts'
import { tokenContext } from '../../../sessions/rows/sessions.ts'
import type { PinnedSession } from './store.ts'
import { versionTokens } from './store.ts'
import { fromJson } from '../../../ground/core/text/json-text.ts'

type TokenSession = Tables['sessions']

/** The inline tokens of a session by MCP server name: the session's own token, else the token of the agent version. */
export async function inlineTokens(
  db: Reads,
  seal: Seal,
  session: Pick<TokenSession, 'tenant_id' | 'id' | 'agent_id' | 'agent_version' | 'sealed_tokens'>,
): Promise<Record<string, string>> {
  const version_tokens = session.sealed_tokens === null ? await versionTokens(db, session) : null
  const sealed = sealedTokens({ ...session, version_tokens })
  const names = Object.keys(sealed.tokens)
  return Object.fromEntries(names.map((name) => [name, sealed.open(seal, name) ?? '']))
}

type InlineTokens = Pick<PinnedSession, 'tenant_id' | 'id' | 'sealed_tokens' | 'version_tokens'>

/** Gives access to the sealed tokens. Each token is opened by itself. */
export function sealedTokens({
  tenant_id: tenant,
  id,
  sealed_tokens,
  version_tokens,
}: InlineTokens) {
  const tokens = fromJson(sealed_tokens ?? version_tokens) ?? {}
  return {
    tokens,
    open(seal: Seal, server: string): string | undefined {
      const token = Object.hasOwn(tokens, server) ? tokens[server] : undefined
      const context =
        sealed_tokens === null ? agentTokenContext(tenant) : tokenContext(tenant, id, server)
      return token && seal.open(token, context)
    },
  }
}
