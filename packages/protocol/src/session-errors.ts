/** Failures of a session, as `session.error` shows them. */
import { z } from 'zod'
import { repositoryErrorTypes } from './events.ts'

const retry_status = z
  .object({ type: z.enum(['retrying', 'exhausted', 'terminal']) })
  .describe('Whether the service tries again by itself.')
const failed = { message: z.string().describe('A sentence for a person.'), retry_status }
export const SessionErrorShown = z
  .discriminatedUnion('type', [
    z.object({
      ...failed,
      type: z.enum([
        'unknown_error',
        'model_overloaded_error',
        'model_rate_limited_error',
        'model_request_failed_error',
        'billing_error',
        'tool_use_limit_reached_error',
        'compaction_limit_reached_error',
      ]),
    }),
    z.object({
      ...failed,
      type: z.enum(['mcp_connection_failed_error', 'mcp_authentication_failed_error']),
      mcp_server_name: z.string().describe('The name of the MCP server.'),
    }),
    z.object({
      ...failed,
      type: z.literal('credential_host_unreachable_error'),
      vault_id: z.string(),
      credential_id: z.string(),
    }),
    z.object({
      ...failed,
      type: z.enum(repositoryErrorTypes),
      repository_url: z.string().nullable().describe('The address of the repository, or null.'),
    }),
  ])
  .meta({ id: 'SessionError', description: 'What went wrong in a session.' })
