/** What came of trying a credential. */
import { z } from 'zod'
import { Timestamp } from './primitives.ts'

const HttpResponse = z
  .object({
    status_code: z.int(),
    content_type: z.string(),
    body: z.string(),
    body_truncated: z.boolean(),
  })
  .nullable()

/** What came of trying an OAuth credential, and nothing of the credential itself. */
export const Validation = z.object({
  status: z.enum(['valid', 'invalid', 'unknown']),
  has_refresh_token: z.boolean(),
  mcp_probe: z.object({ method: z.string(), http_response: HttpResponse }).nullable(),
  refresh: z
    .object({
      status: z.enum(['succeeded', 'failed', 'connect_error', 'no_refresh_token']),
      http_response: HttpResponse,
    })
    .nullable(),
})
export type Validation = z.infer<typeof Validation>

export const ValidationShown = Validation.extend({
  type: z.literal('vault_credential_validation'),
  credential_id: z.string(),
  vault_id: z.string(),
  validated_at: Timestamp,
}).meta({
  id: 'CredentialValidation',
  description: 'What came of trying an OAuth credential.',
})
