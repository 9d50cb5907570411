/** What servers verify the tokens of agents by. */
import { z } from 'zod'

export const IdentityKeys = z
  .object({
    keys: z
      .array(
        z.object({
          kty: z.literal('EC'),
          crv: z.literal('P-256'),
          x: z.string().describe('The first coordinate of the public key.'),
          y: z.string().describe('The second one.'),
          kid: z.string().describe('The id of the key, which a token names.'),
          alg: z.literal('ES256'),
          use: z.literal('sig'),
        }),
      )
      .describe('The key that signs, the one before, and the next one.'),
  })
  .meta({ id: 'AgentIdentityKeys', description: 'A JSON Web Key Set.' })

export const IdentityDiscovery = z
  .object({
    issuer: z.string().describe('`iss` of the tokens.'),
    jwks_uri: z.string().describe('Where the public keys are.'),
    id_token_signing_alg_values_supported: z.array(z.string()).describe('Only `ES256`.'),
    subject_types_supported: z.array(z.string()).describe('Only `public`.'),
    response_types_supported: z
      .array(z.string())
      .describe('Only `none`: nobody signs in at this issuer.'),
    claims_supported: z.array(z.string()).describe('The claims of a token.'),
  })
  .meta({
    id: 'AgentIdentityDiscovery',
    description: 'What OpenID Connect Discovery has an issuer say.',
  })
