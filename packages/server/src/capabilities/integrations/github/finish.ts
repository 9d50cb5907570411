/** Finishes the installation of the GitHub app, when a person comes back from GitHub. */
import { z } from 'zod'
import type { App, InstalledApp, ProviderContext } from '../installations/app.ts'
import { ownsAccount } from './owner.ts'
import type { GithubIdentity } from './token.ts'
import { askGithub, newInstallationToken } from './token.ts'

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

export type GithubClient = {
  slug: string
  clientId: string
  /** SECRET: never logged. */
  clientSecret: string
  url: string
  apiUrl: string
}

export function finishInGithub(
  { slug, clientId, clientSecret, url, apiUrl }: GithubClient,
  own: GithubIdentity,
): App['finish'] {
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

  async function finish(
    query: URLSearchParams,
    redirect: string,
    provider: ProviderContext,
  ): ReturnType<App['finish']> {
    if (query.get('setup_action') === 'request')
      return {
        refused:
          'an owner of the organisation has to approve the app at GitHub first; begin the installation again after that',
      }
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
  }

  return finish
}
