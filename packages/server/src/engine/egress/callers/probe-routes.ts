/** Trying an MCP server before an agent names it. [mcp/probe] */
import { McpProbeParams, McpProbeShown } from '@steward/protocol/mcp-probes.ts'
import { auditChange } from '../../../ground/core/security/audited-call.ts'
import { invalid } from '../../../ground/core/errors.ts'
import { newId } from '../../../ground/core/text/ids.ts'
import type { Route } from '../../../ground/http/route.ts'
import { section } from '../../../ground/http/section.ts'
import { vaultStore } from '../../../resources/vaults/store.ts'
import type { ProbeMcpServer } from './probe.ts'

const probes = section('MCP servers', ['workspace'], '/v1/ext/mcp_probes')

export const mcpProbeRoutes = ({ egress }: { egress: { probe: ProbeMcpServer } }): Route[] => [
  probes.post(
    '',
    {
      summary: 'Try an MCP server',
      description:
        'Connects to it as a session does, with the credential of the vaults that belongs to its URL, lists its tools and leaves. A server that cannot be used is an answer and no error. It has 15 seconds.',
      body: McpProbeParams,
      answer: McpProbeShown,
    },
    async ({ db, tenant, body, signal }) => {
      for (const [index, id] of (body.vault_ids ?? []).entries()) {
        const { archived_at } = await vaultStore(db.read).get(tenant, id)
        if (archived_at !== null) throw invalid(`vault_ids.${index}: vault ${id} is archived`)
      }
      const id = newId('mcp_probe')
      const after = { host: new URL(body.url).hostname, vault_ids: body.vault_ids ?? [] }
      // Written before a credential leaves.
      await db.write(async () => auditChange({ type: 'mcp_probe', id, after }))
      return { id, ...(await egress.probe(tenant, body, signal)) }
    },
  ),
]
