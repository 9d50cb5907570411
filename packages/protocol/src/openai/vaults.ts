import { z } from 'zod'
import { Id, Line, Metadata } from '../primitives.ts'
import { AuthCreate, AuthUpdate } from '../credential-auth.ts'
import { AfterQuery, UnixSeconds } from './lists.ts'

const trimmed = Line.transform((text) => text.trim()).pipe(z.string().min(1).max(255))

export const OpenAIVaultCreate = z
  .strictObject({
    name: trimmed.nullish().describe('What people call the vault.'),
    metadata: Metadata.nullish(),
  })
  .meta({ id: 'OpenAIVaultCreateParams', examples: [{ name: 'Reviewer' }] })

export const OpenAIVaultUpdate = z
  .strictObject({
    name: trimmed.nullish().describe('Null clears it.'),
    metadata: Metadata.optional().describe('Replaced as a whole.'),
  })
  .meta({ id: 'OpenAIVaultUpdateParams', examples: [{ metadata: { team: 'data' } }] })

/** The query may repeat `status[]`. */
const Status = z
  .union([z.enum(['active', 'archived']), z.array(z.enum(['active', 'archived']))])
  .optional()
  .describe('Both when absent.')
export const OpenAIVaultListQuery = z.looseObject({
  ...AfterQuery.shape,
  status: Status,
  'metadata[key]': z.string().optional().describe('Only those whose metadata has this value.'),
})

export const OpenAIVaultShown = z
  .object({
    id: z.string(),
    object: z.literal('vault'),
    name: z.string().nullable(),
    metadata: z.record(z.string(), z.string()),
    created_at: UnixSeconds,
  })
  .meta({ id: 'OpenAIVault', description: 'A place for credentials.' })
export type OpenAIVault = z.infer<typeof OpenAIVaultShown>

const known = ['mcp_oauth', 'static_bearer', 'environment_variable']
const isKnown = ({ type }: { type: string }): boolean => known.includes(type)
const unknownType = {
  path: ['type'],
  error: 'must be mcp_oauth, static_bearer or environment_variable',
}

export const OpenAICredentialCreate = z
  .strictObject({
    name: trimmed.describe('What people call the credential.'),
    auth: AuthCreate.refine(isKnown, unknownType),
    metadata: Metadata.nullish(),
  })
  .meta({
    id: 'OpenAICredentialCreateParams',
    examples: [
      {
        name: 'Issue tracker',
        auth: {
          type: 'static_bearer',
          token: 'example-token',
          mcp_server_url: 'https://mcp.example.com/mcp',
        },
      },
    ],
  })

export const OpenAICredentialUpdate = z
  .strictObject({
    auth: AuthUpdate.refine(isKnown, unknownType).optional(),
    metadata: Metadata.optional().describe('Replaced as a whole.'),
  })
  .meta({
    id: 'OpenAICredentialUpdateParams',
    examples: [{ auth: { type: 'static_bearer', token: 'example-token-2' } }],
  })

export const OpenAICredentialShown = z
  .object({
    id: Id,
    object: z.literal('vault.credential'),
    vault_id: z.string(),
    name: z.string(),
    metadata: z.record(z.string(), z.string()),
    auth: z
      .looseObject({ type: z.string() })
      .meta({ id: 'OpenAICredentialAuth', description: 'What it is for, without its secret.' }),
    created_at: UnixSeconds,
    updated_at: UnixSeconds,
  })
  .meta({ id: 'OpenAICredential', description: 'A credential, without its secret.' })
export type OpenAICredential = z.infer<typeof OpenAICredentialShown>
