/** The Linear app of this service, which acts as itself. Its tokens last for hours, and each renewal gives new ones. */
import { z } from 'zod'
import type { App, AppToken, AppTokens, ProviderContext } from '../installations/app.ts'
import { planHint } from '../answers/plan.ts'
import { readWith } from '../installations/app.ts'
import type { AnswerOutcome } from '../integration.ts'
import { gatherLinear, mayCallOnLinear } from './context.ts'
import { linearIntegration, linearReferenceTo } from './linear.ts'
import { parsePayload } from '../deliveries/payload.ts'

export type LinearSettings = {
  clientId: string
  /** SECRET: never logged. */
  clientSecret: string
  /** SECRET: never logged. */
  webhookSecret: string
  url: string
  apiUrl: string
}

/** A token is renewed this long before it ends. */
const marginMs = 10 * 60_000
const scopes = ['read', 'write', 'app:assignable', 'app:mentionable']

const granted = z.object({
  access_token: z.string().min(1),
  refresh_token: z.string().min(1).optional(),
  expires_in: z.number().positive(),
  scope: z.union([z.string(), z.array(z.string())]).optional(),
})
type TokenGrant = z.infer<typeof granted>

const Account = z.object({
  data: z.object({
    viewer: z.object({ id: z.string().min(1) }),
    organization: z.object({ id: z.string().min(1), name: z.string() }),
  }),
})

const tokensOf = ({ access_token, refresh_token, expires_in }: TokenGrant, nowMs: number) => ({
  access: access_token,
  expiresMs: nowMs + expires_in * 1000 - marginMs,
  ...(refresh_token !== undefined && { refresh: refresh_token }),
})

export function linearApp({ url, apiUrl, ...own }: LinearSettings): App {
  const { clientId: client_id, clientSecret: client_secret, webhookSecret } = own

  const postForm = (
    path: string,
    fields: Record<string, string>,
    { send, signal }: ProviderContext,
  ): Promise<AnswerOutcome> => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const body = String(new URLSearchParams(fields))
    return send({ method: 'POST', url: `${apiUrl}${path}`, headers, body }, signal)
  }

  const grantedIn = (outcome: AnswerOutcome): TokenGrant | undefined =>
    'body' in outcome ? granted.safeParse(parsePayload(Buffer.from(outcome.body))).data : undefined

  async function accountOf(bearer: string, { send, signal }: ProviderContext) {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${bearer}` }
    const body = JSON.stringify({ query: '{ viewer { id } organization { id name } }' })
    const answer = await send({ method: 'POST', url: `${apiUrl}/graphql`, headers, body }, signal)
    return 'body' in answer
      ? Account.safeParse(parsePayload(Buffer.from(answer.body))).data?.data
      : undefined
  }

  return {
    id: 'linear',
    referenceTo: linearReferenceTo,
    adapter: {
      ...linearIntegration,
      read: readWith(linearIntegration, ({ spec: { linear: config }, known }) => ({
        teams: config?.teams ?? [],
        authors: config?.authors ?? [],
        members: config?.members ?? null,
        known,
      })),
    },
    secrets: [webhookSecret],
    url,
    apiUrl,
    access: {
      variable: 'LINEAR_API_KEY',
      hosts: [new URL(apiUrl).hostname],
      mcpServer: 'https://mcp.linear.app/mcp',
    },
    renewsTokens: true,
    gather: gatherLinear,
    mayCall: mayCallOnLinear,
    hintFor: () => planHint,
    faultOf: (spec) => (spec.linear ? undefined : 'linear: is required for the integration linear'),

    installUrl(state, redirect_uri) {
      const query = {
        client_id,
        redirect_uri,
        response_type: 'code',
        scope: scopes.join(','),
        state,
        actor: 'app',
      }
      return `${url}/oauth/authorize?${String(new URLSearchParams(query))}`
    },

    async finish(query, redirect_uri, provider) {
      const code = query.get('code') ?? ''
      if (code === '') return { refused: 'Linear brought no code back: it was not allowed there' }
      const grant_type = 'authorization_code'
      const fields = { grant_type, code, redirect_uri, client_id, client_secret }
      const grant = grantedIn(await postForm('/oauth/token', fields, provider))
      if (!grant) return { refused: 'Linear did not take the code' }
      const account = await accountOf(grant.access_token, provider)
      if (!account) return { refused: 'Linear did not say which workspace it is' }
      const { scope = scopes } = grant
      return {
        externalId: account.organization.id,
        externalName: account.organization.name,
        botUserId: account.viewer.id,
        scopes: typeof scope === 'string' ? scope.split(/[ ,]+/) : scope,
        tokens: tokensOf(grant, provider.nowMs),
      }
    },

    async newToken(_id, tokens, provider): Promise<AppToken> {
      const refresh_token = tokens?.refresh
      if (refresh_token === undefined) return { kind: 'refused' }
      const grant_type = 'refresh_token'
      const fields = { grant_type, refresh_token, client_id, client_secret }
      const outcome = await postForm('/oauth/token', fields, provider)
      const grant = grantedIn(outcome)
      if (grant) {
        const kept = { refresh: refresh_token, ...tokensOf(grant, provider.nowMs) }
        return { kind: 'token', token: grant.access_token, expiresMs: kept.expiresMs, tokens: kept }
      }
      if ('error' in outcome) return { kind: 'unreachable', reason: outcome.error }
      return [400, 401, 403].includes(outcome.status)
        ? { kind: 'refused' }
        : { kind: 'unreachable', reason: `status ${outcome.status}` }
    },

    async revoke(_id, tokens, provider) {
      const kept = tokens?.refresh ?? tokens?.access
      if (kept === undefined) return false
      const fields = { token: kept, token_type_hint: hintOf(tokens), client_id, client_secret }
      const answer = await postForm('/oauth/revoke', fields, provider)
      return 'status' in answer && answer.status === 200
    },
  }
}

const hintOf = (tokens: AppTokens | null): string =>
  tokens?.refresh === undefined ? 'access_token' : 'refresh_token'
