/** The GitHub app of this service: its installations, and their tokens, which last an hour. */
import { createPrivateKey } from 'node:crypto'
import type { PublicationSpec } from '@steward/protocol/integrations.ts'
import { z } from 'zod'
import type { App, InstalledApp, ProviderContext } from '../installations/app.ts'
import { readWith } from '../installations/app.ts'
import { githubIntegration } from './github.ts'
import { ownsAccount } from './owner.ts'
import { appToken, askGithub, githubHeaders, newAgentToken, newInstallationToken } from './token.ts'

export type GithubSettings = {
  appId: string
  slug: string
  /** SECRET: never logged. */
  privateKey: string
  clientId: string
  /** SECRET: never logged. */
  clientSecret: string
  /** SECRET: never logged. */
  webhookSecret: string
  url: string
  apiUrl: string
}

const userToken = z.object({ access_token: z.string().min(1) })
const installed = z.object({
  installations: z.array(
    z.object({
      id: z.number(),
      account: z.object({ login: z.string(), type: z.string() }),
      permissions: z.record(z.string(), z.string()).default({}),
    }),
  ),
})
const configOf = ({ slug }: GithubSettings, { github: config }: PublicationSpec) => ({
  repositories: config?.repositories ?? [],
  authors: config?.authors ?? [],
  mention: slug,
  assignee: `${slug}[bot]`,
  labels: config?.labels ?? [],
  reviewers: config?.reviewers ?? [],
})

export function githubApp(settings: GithubSettings): App {
  const { appId, slug, clientId, clientSecret, url, apiUrl } = settings
  const key = createPrivateKey(settings.privateKey.replaceAll('\\n', '\n'))
  const own = { appId, key, apiUrl }
  const bot = `${slug}[bot]`
  /**
   * Returns the installation when the person with the code owns its account. The id of an installation proves nothing
   * by itself.
   */
  async function ownedBy(
    bearer: string,
    id: string,
    provider: ProviderContext,
  ): Promise<InstalledApp | undefined> {
    for (let page = 1; page <= 10; page++) {
      const to = `${apiUrl}/user/installations?per_page=100&page=${page}`
      const answer = await askGithub(provider, installed, { method: 'GET', url: to, bearer })
      const all = 'found' in answer ? (answer.found?.installations ?? []) : []
      const found = all.find((each) => String(each.id) === id)
      if (found && !(await ownsAccount(apiUrl, bearer, found.account, provider))) return undefined
      if (found)
        return {
          externalId: id,
          externalName: found.account.login,
          botUserId: bot,
          scopes: Object.entries(found.permissions).map(([name, access]) => `${name}:${access}`),
          tokens: null,
        }
      if (all.length < 100) return undefined
    }
    return undefined
  }

  return {
    id: 'github',
    adapter: {
      ...githubIntegration,
      read: readWith(githubIntegration, (spec) => configOf(settings, spec)),
    },
    secrets: [settings.webhookSecret],
    url,
    apiUrl,
    isNewIdEachTime: true,
    faultOf: (spec) => (spec.github ? undefined : 'github: is required for the integration github'),
    installUrl: (state) =>
      `${url}/apps/${slug}/installations/new?state=${encodeURIComponent(state)}`,

    async finish(query, redirect, provider) {
      const id = query.get('installation_id') ?? ''
      const code = query.get('code') ?? ''
      if (!/^\d{1,20}$/.test(id) || code === '')
        return {
          refused:
            'GitHub brought no installation_id and code back: the app must request user authorization during installation',
        }
      const body = {
        client_id: clientId,
        client_secret: clientSecret,
        code,
        redirect_uri: redirect,
      }
      const to = `${url}/login/oauth/access_token`
      const answer = await askGithub(provider, userToken, { method: 'POST', url: to, body })
      const bearer = 'found' in answer ? answer.found?.access_token : undefined
      if (bearer === undefined) return { refused: 'GitHub did not take the code' }
      const found = await ownedBy(bearer, id, provider)
      if (!found)
        return {
          refused:
            'an owner of the account at GitHub has to come back; the app needs the organisation permission Members: read',
        }
      const first = await newInstallationToken(own, id, provider)
      return first.kind === 'token'
        ? { ...found, tokens: first.tokens ?? null }
        : { refused: 'GitHub gives no token: look at the id and the private key of the app' }
    },

    newToken: (id, _tokens, provider) => newInstallationToken(own, id, provider),

    access: {
      variable: 'GITHUB_TOKEN',
      hosts: [new URL(apiUrl).hostname],
      mcpServer: 'https://api.githubcopilot.com/mcp/',
    },

    async narrowToken({ externalId, externalName }, { github: config }, provider, repository) {
      const all = repository === undefined ? (config?.repositories ?? []) : [repository]
      const names = all.flatMap((each) => {
        const [owner, name = ''] = each.split('/')
        return owner === externalName && name !== '' ? [name] : []
      })
      // Without names, GitHub gives a token for all repositories.
      return names.length === 0
        ? { kind: 'refused' }
        : newAgentToken(own, externalId, provider, names)
    },

    async revoke(id, _tokens, provider) {
      const { send, signal, nowMs } = provider
      const authorization = `Bearer ${appToken(own, nowMs)}`
      const to = `${apiUrl}/app/installations/${id}`
      const letter = {
        method: 'DELETE',
        url: to,
        headers: { ...githubHeaders, authorization },
      } as const
      const answer = await send({ ...letter, body: null }, signal)
      return 'status' in answer && (answer.status === 204 || answer.status === 404)
    },
  }
}
