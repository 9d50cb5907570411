/** The result of trying a credential. */
import { z } from 'zod'
import { Timestamp } from './primitives.ts'

const HttpResponse = z
  .object({
    status_code: z.int().describe('The status of the answer.'),
    content_type: z.string().describe('The type of its body.'),
    body: z.string().describe('The beginning of its body, without secrets.'),
    body_truncated: z.boolean().describe('Whether the body was longer.'),
  })
  .nullable()
  .describe('What was answered; null without an answer.')

/** The result of trying an OAuth credential, without any part of the credential. */
export const Validation = z.object({
  status: z
    .enum(['valid', 'invalid', 'unknown'])
    .describe('`unknown`: the server could not be asked.'),
  has_refresh_token: z.boolean().describe('Whether the token can be renewed.'),
  mcp_probe: z
    .object({
      method: z.string().describe('The MCP method that was tried.'),
      http_response: HttpResponse,
    })
    .nullable()
    .describe('What the MCP server said to the token; null where it was not asked.'),
  refresh: z
    .object({
      status: z
        .enum(['succeeded', 'failed', 'connect_error', 'no_refresh_token'])
        .describe('How the attempt to renew the token ended.'),
      http_response: HttpResponse,
    })
    .nullable()
    .describe('What came of renewing the token; null where that was not tried.'),
})
export type Validation = z.infer<typeof Validation>

export const ValidationShown = Validation.extend({
  type: z.literal('vault_credential_validation'),
  credential_id: z.string(),
  vault_id: z.string(),
  validated_at: Timestamp.describe('When the credential was tried.'),
}).meta({
  id: 'CredentialValidation',
  description: 'What came of trying an OAuth credential.',
})
