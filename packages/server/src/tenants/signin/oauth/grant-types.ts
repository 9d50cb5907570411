/** What a client may exchange for tokens, by its `grant_type`. */
import { parsedBy } from '@steward/protocol/problems.ts'
import { z } from 'zod'
import { hashToken } from '../../../ground/core/security/token.ts'
import type { RouteReply } from '../../../ground/http/reply.ts'
import type { People } from '../../people/people.ts'
import { workspaceStore } from '../../workspaces/store.ts'
import type { OAuthClient, OAuthClients } from './clients.ts'
import type { LoginGrant } from './exchange.ts'
import type { OAuthExchanges } from './exchanges.ts'
import { oauthAnswer } from './oauth-answers.ts'
import type { OAuthRefusal } from './refusal.ts'
import { isRefusal, refuse } from './refusal.ts'
import { oauthStore } from './store.ts'

const word = z.string().min(1).max(2_000)

const ofCode = z.object({ code: word, code_verifier: word, redirect_uri: word })
const ofRefresh = z.object({ refresh_token: word })
const ofDevice = z.object({ device_code: word })
const ofAssertion = z.object({
  assertion: z
    .string()
    .min(1)
    .max(16 * 1024),
  workspace_id: word.optional(),
})
const assertionGrant = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code'

export type OAuthDeps = {
  people: People
  clients: OAuthClients
  exchanges: OAuthExchanges
  /** The setting; left out: the id of the workspace. */
  organizationId: string | undefined
}

export function grantTypes({ people, clients, exchanges, organizationId }: OAuthDeps) {
  const { read } = people.databases.control

  async function granted({ tokens, tenant, scope }: LoginGrant): Promise<RouteReply> {
    const [workspace] = await workspaceStore(read).some([tenant])
    const login = await oauthStore(read).loginOf(hashToken(tokens.access))
    return oauthAnswer(200, {
      access_token: tokens.access,
      token_type: 'Bearer',
      expires_in: tokens.expiresSeconds,
      ...(tokens.refresh && { refresh_token: tokens.refresh }),
      ...(scope && { scope }),
      organization: { uuid: organizationId ?? tenant, name: workspace?.name ?? '' },
      ...(login?.email && {
        account: { uuid: login.created_by ?? '', email_address: login.email },
      }),
      workspace: { id: tenant, name: workspace?.name ?? '' },
    })
  }

  type Parameters = Record<string, string>
  const exchange =
    <Given>(
      schema: z.ZodType<Given>,
      run: (client: OAuthClient, given: Given) => Promise<LoginGrant | OAuthRefusal>,
    ) =>
    async (parameters: Parameters): Promise<LoginGrant | OAuthRefusal> => {
      const client = clients.find(parameters['client_id'] ?? '')
      if (!client)
        return refuse(
          'invalid_client',
          'client_id: is missing, or no client that this server knows',
        )
      const parsed = parsedBy(schema, parameters)
      return parsed.ok ? run(client, parsed.value) : refuse('invalid_request', parsed.problems)
    }

  const byGrantType = new Map(
    Object.entries({
      authorization_code: exchange(ofCode, (client, given) =>
        exchanges.exchangeCode(client, {
          code: given.code,
          verifier: given.code_verifier,
          redirectUri: given.redirect_uri,
        }),
      ),
      refresh_token: exchange(ofRefresh, (client, given) =>
        exchanges.exchangeRefreshToken(client, given.refresh_token),
      ),
      [assertionGrant]: async (parameters: Parameters) => {
        const parsed = parsedBy(ofAssertion, parameters)
        if (!parsed.ok) return refuse('invalid_request', parsed.problems)
        const { assertion, workspace_id: workspace } = parsed.value
        return exchanges.exchangeAssertion({ assertion, workspace })
      },
      [deviceGrant]: exchange(ofDevice, (client, given) =>
        exchanges.exchangeDeviceCode(client, given.device_code),
      ),
    }),
  )

  return {
    names: [...byGrantType.keys()],

    async exchange(parameters: Parameters): Promise<RouteReply | OAuthRefusal> {
      const run = byGrantType.get(parameters['grant_type'] ?? '')
      const names = [...byGrantType.keys()].join(', ')
      if (!run) return refuse('unsupported_grant_type', `grant_type: must be one of ${names}`)
      const done = await run(parameters)
      return isRefusal(done) ? done : granted(done)
    },
  }
}
