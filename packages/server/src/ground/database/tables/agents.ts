import type { AgentConfig } from '@steward/protocol/agents.ts'
import type { Sealed } from '../../core/security/seal.ts'
import { creatorGroup } from './creator.ts'
import { json, long, nullable, number, record, sealedJson, table, text } from '../table.ts'

/** Tokens of MCP servers by the names of the servers. */
export type SealedTokens = Record<string, Sealed>

export const agentTables = {
  agents: table({
    rows: 'tenant',
    key: ['tenant_id', 'id'],
    noun: 'agent',
    columns: {
      tenant_id: text(),
      id: text(),
      version: number(),
      environment_id: nullable(text()),
      config: long(record<AgentConfig>()),
      archived_at: nullable(text()),
      created_at: text(),
      updated_at: text(),
    },
  }),
  agent_versions: table({
    rows: 'tenant',
    key: ['tenant_id', 'agent_id', 'version'],
    columns: {
      tenant_id: text(),
      agent_id: text(),
      version: number(),
      config: json<AgentConfig>(),
      /** Sealed tokens by server name. */
      sealed_tokens: sealedJson<SealedTokens>(),
      created_at: text(),
      ...creatorGroup,
    },
  }),
}
