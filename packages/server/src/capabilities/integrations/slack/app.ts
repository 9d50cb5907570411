/** The Slack app of this service. Its tokens do not expire. */
import { z } from 'zod'
import type { App, ProviderContext } from '../installations/app.ts'
import { readWith } from '../installations/app.ts'
import { parsePayload } from '../deliveries/payload.ts'
import { slackReferenceTo } from './answers.ts'
import { gatherSlack, mayCallOnSlack } from './context.ts'
import { slackIntegration } from './slack.ts'
import { slackFiles } from './files.ts'

export type SlackSettings = {
  clientId: string
  /** SECRET: never logged. */
  clientSecret: string
  /** SECRET: never logged. */
  signingSecret: string
  url: string
  apiUrl: string
}

const scopes = [
  'app_mentions:read',
  'channels:history',
  'chat:write',
  'files:read',
  'files:write',
  'groups:history',
  'im:history',
  'mpim:history',
  'usergroups:read',
  'users:read',
]

/** The answer to an installation in a whole organisation, whose token is for no single workspace. */
const ofOrganisation = z.object({ ok: z.literal(true), is_enterprise_install: z.literal(true) })
const installed = z.object({
  ok: z.literal(true),
  access_token: z.string().min(1),
  refresh_token: z.string().optional(),
  bot_user_id: z.string().min(1),
  scope: z.string(),
  team: z.object({ id: z.string().min(1), name: z.string() }),
})
const done = z.object({ ok: z.literal(true) })

export function slackApp({ url, apiUrl, ...own }: SlackSettings): App {
  const { clientId: client_id, clientSecret: client_secret, signingSecret } = own

  async function post(
    path: string,
    fields: Record<string, string>,
    { send, signal }: ProviderContext,
    bearer?: string,
  ): Promise<unknown> {
    const credential: Record<string, string> =
      bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }
    const headers = { 'content-type': 'application/x-www-form-urlencoded', ...credential }
    const body = String(new URLSearchParams(fields))
    const answer = await send({ method: 'POST', url: `${apiUrl}${path}`, headers, body }, signal)
    return 'body' in answer ? parsePayload(Buffer.from(answer.body)) : undefined
  }

  const filesHost = url === 'https://slack.com' ? 'https://files.slack.com' : new URL(url).origin

  return {
    id: 'slack',
    referenceTo: slackReferenceTo,
    adapter: {
      ...slackIntegration,
      read: readWith(slackIntegration, ({ spec }) => ({
        ...spec.slack,
        follow_ups: spec.follow_ups ?? true,
      })),
    },
    secrets: [signingSecret],
    gather: gatherSlack,
    mayCall: mayCallOnSlack,
    url,
    apiUrl,
    filesUrl: `${filesHost}/files-pri/`,
    uploadOrigins: [filesHost],
    uploads: slackFiles,
    faultOf: (spec) => (spec.slack ? undefined : 'slack: is required for the integration slack'),

    installUrl(state, redirect_uri) {
      const query = { client_id, scope: scopes.join(','), state, redirect_uri }
      return `${url}/oauth/v2/authorize?${String(new URLSearchParams(query))}`
    },

    async finish(query, redirect_uri, provider) {
      const code = query.get('code') ?? ''
      if (code === '') return { refused: 'Slack brought no code back: it was not allowed there' }
      const fields = { client_id, client_secret, code, redirect_uri }
      const answer = await post('/oauth.v2.access', fields, provider)
      if (ofOrganisation.safeParse(answer).success)
        return {
          refused:
            'the app cannot be installed for a whole organisation (Enterprise Grid): choose one of its workspaces at Slack',
        }
      const { data } = installed.safeParse(answer)
      if (!data) return { refused: 'Slack did not take the code' }
      if (data.refresh_token !== undefined)
        return { refused: 'the app rotates its tokens: switch token rotation off at Slack' }
      return {
        externalId: data.team.id,
        externalName: data.team.name,
        botUserId: data.bot_user_id,
        scopes: data.scope.split(','),
        tokens: { access: data.access_token },
      }
    },

    access: { variable: 'SLACK_BOT_TOKEN', hosts: [new URL(apiUrl).hostname], mcpServer: null },

    newToken: () => Promise.resolve({ kind: 'refused' }),

    async revoke(_id, tokens, provider) {
      if (tokens?.access === undefined) return false
      const fields = { client_id, client_secret }
      const answer = await post('/apps.uninstall', fields, provider, tokens.access)
      return done.safeParse(answer).success
    },
  }
}
