/** The wire of OAuth: RFC 6749, 8628 and 8414. */
import { z } from 'zod'

const url = z.string()

export const OAuthTokens = z
  .object({
    access_token: z.string().describe('Opens the API as `Authorization: Bearer`.'),
    token_type: z.literal('Bearer'),
    expires_in: z.int().describe('Seconds for which the access token is valid.'),
    refresh_token: z
      .string()
      .optional()
      .describe('To be exchanged for the next pair. Each is exchanged once.'),
    scope: z
      .string()
      .optional()
      .describe('As it was asked for. What the token may do follows from the role of the person.'),
    organization: z
      .object({ uuid: z.string().describe('Its id.'), name: z.string() })
      .describe('The organisation, as `GET /v1/organizations/me` has it.'),
    account: z
      .object({
        uuid: z.string().describe('The id of the person.'),
        email_address: z.string().describe('The address that the person signs in with.'),
      })
      .optional()
      .describe('The person who has allowed the login.'),
    workspace: z
      .object({ id: z.string(), name: z.string() })
      .describe('The workspace that the tokens open.'),
  })
  .meta({ id: 'OAuthTokens', description: 'The tokens of a login.' })

export const OAuthError = z
  .object({
    error: z.string().describe('Such as `invalid_grant` or `slow_down`.'),
    error_description: z.string().describe('What to do about it.'),
  })
  .meta({ id: 'OAuthError', description: 'A refusal in the words of OAuth.' })

export const DeviceAuthorization = z
  .object({
    device_code: z.string().describe('What the device asks with.'),
    user_code: z.string().describe('What the person types.'),
    verification_uri: url.describe('Where the person types it.'),
    verification_uri_complete: url.describe('The same with the code in it.'),
    expires_in: z.int().describe('Seconds for which both codes are valid.'),
    interval: z.int().describe('Seconds between two questions of the device.'),
  })
  .meta({ id: 'OAuthDeviceAuthorization', description: 'The codes of a login on a device.' })

export const OAuthMetadata = z
  .object({
    issuer: url.describe('The base URL of this service.'),
    authorization_endpoint: url.describe('The page on which a person lets a client log in.'),
    token_endpoint: url.describe('Where codes and refresh tokens are exchanged.'),
    revocation_endpoint: url.describe('Where a client ends its login.'),
    device_authorization_endpoint: url.describe('Where a device begins its login.'),
    response_types_supported: z.array(z.string()).describe('Only `code`.'),
    response_modes_supported: z.array(z.string()).describe('Only `query`.'),
    grant_types_supported: z.array(z.string()).describe('What the token endpoint exchanges.'),
    code_challenge_methods_supported: z.array(z.string()).describe('Only `S256`.'),
    token_endpoint_auth_methods_supported: z
      .array(z.string())
      .describe('Only `none`: clients have no secret.'),
    revocation_endpoint_auth_methods_supported: z.array(z.string()).describe('Only `none`.'),
    authorization_response_iss_parameter_supported: z
      .boolean()
      .describe('Whether a code comes back with `iss`.'),
  })
  .meta({ id: 'OAuthMetadata', description: 'What RFC 8414 has a server say.' })
