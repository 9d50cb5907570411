/** Whether an MCP server can be used, before an agent names it. */
import { z } from 'zod'
import { VaultIds } from './sessions.ts'

export const McpProbeParams = z
  .strictObject({
    name: z
      .string()
      .min(1)
      .max(255)
      .nullish()
      .describe('What errors call it; its host when absent.'),
    url: z
      .url({ protocol: /^https?$/ })
      .max(2048)
      .describe('The address of the server, as an agent would name it.'),
    vault_ids: VaultIds.nullish().describe(
      'Vaults whose credentials it may get, as those of a session.',
    ),
  })
  .meta({
    id: 'MCPProbeParams',
    description: 'An MCP server to try, and the vaults to try it with.',
    examples: [{ name: 'tracker', url: 'https://mcp.example.com/mcp' }],
  })
export type McpProbeParams = z.infer<typeof McpProbeParams>

export const McpProbeShown = z
  .object({
    id: z.string().describe('Names it in the audit.'),
    type: z.literal('mcp_probe'),
    ok: z.boolean().describe('Whether it was reached and has listed its tools.'),
    url: z.string().describe('The address that was asked.'),
    credential: z
      .object({ vault_id: z.string(), credential_id: z.string() })
      .nullable()
      .describe('The credential that belongs to the address. Null: none was sent.'),
    tools: z
      .array(
        z.object({
          name: z.string().describe('As the server calls it.'),
          title: z.string().nullable().describe('What people call it, if the server says so.'),
          description: z.string().nullable().describe('What it does, at most 400 characters.'),
        }),
      )
      .describe('Its tools, 500 at most.'),
    left_out: z.string().nullable().describe('What of its tools cannot be used, in words.'),
    error: z
      .object({
        type: z.enum(['mcp_connection_failed_error', 'mcp_authentication_failed_error']),
        message: z.string().describe('What failed.'),
        advice: z.string().describe('What to do about it.'),
      })
      .nullable()
      .describe('Why it cannot be used. Null when it can.'),
    ms: z.int().describe('Milliseconds until it had answered or was given up.'),
  })
  .meta({ id: 'MCPProbe', description: 'What came of trying an MCP server.' })
export type McpProbeShown = z.infer<typeof McpProbeShown>
