/** The GitHub app of this service: its installations, and their tokens, which last an hour. */
import { createPrivateKey } from 'node:crypto'
import { sourceDefaults } from '@steward/protocol/integrations.ts'
import type { App, ReadPublication } from '../installations/app.ts'
import { planHint } from '../answers/plan.ts'
import { readWith } from '../installations/app.ts'
import { gatherGithub } from './context.ts'
import type { GithubConfig } from './config.ts'
import { githubIntegration } from './github.ts'
import { mayCallOnGithub } from './callers.ts'
import { githubHeadOf } from './head.ts'
import { reviewHint } from './reviews.ts'
import { sameName } from '../deliveries/listed-names.ts'
import { whyNotWokenOnGithub } from './own-pulls.ts'
import { finishInGithub } from './finish.ts'
import { openOnGithub } from './pull-requests.ts'
import { githubHeaders } from './calls.ts'
import { appToken, forAgents, forGit, newInstallationToken, newNarrowToken } from './token.ts'

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

const noSource = { repositories: [], authors: [], labels: [], reviewers: [] }

const configOf = ({ slug }: GithubSettings, { spec, known }: ReadPublication): GithubConfig => ({
  ...noSource,
  ...sourceDefaults.github,
  ...spec.github,
  known,
  mention: slug,
  assignee: `${slug}[bot]`,
  followUps: spec.follow_ups ?? false,
})

export function githubApp(settings: GithubSettings): App {
  const { appId, slug, url, apiUrl } = settings
  const key = createPrivateKey(settings.privateKey.replaceAll('\\n', '\n'))
  const own = { appId, key, apiUrl }
  const finish = finishInGithub(settings, own)

  return {
    id: 'github',
    adapter: {
      ...githubIntegration,
      read: readWith(githubIntegration, (publication) => configOf(settings, publication)),
    },
    secrets: [settings.webhookSecret],
    url,
    apiUrl,
    isNewIdEachTime: true,
    renewsTokens: true,
    gather: gatherGithub,
    mayCall: mayCallOnGithub,
    headOf: githubHeadOf,
    openPullRequest: openOnGithub,
    whyNotWoken: whyNotWokenOnGithub,
    hintFor: ({ pull }) => (pull === 1 ? `${planHint}\n${reviewHint}` : planHint),
    faultOf: (spec) => (spec.github ? undefined : 'github: is required for the integration github'),
    installUrl: (state) =>
      `${url}/apps/${slug}/installations/new?state=${encodeURIComponent(state)}`,

    finish,

    newToken: (id, _tokens, provider) => newInstallationToken(own, id, provider),

    access: {
      variable: 'GITHUB_TOKEN',
      hosts: [new URL(apiUrl).hostname],
      mcpServer: 'https://api.githubcopilot.com/mcp/',
    },

    async narrowToken({ externalId, externalName }, { github: config }, provider, git) {
      const all = git === undefined ? (config?.repositories ?? []) : [git.repository]
      const names = all.flatMap((each) => {
        const [owner, name = ''] = each.split('/')
        return sameName(owner ?? '', externalName) && name !== '' ? [name] : []
      })
      // Without names, GitHub gives a token for all repositories.
      if (names.length === 0) return { kind: 'refused' }
      const permissionsFrom = git === undefined ? forAgents : forGit(git.mayWrite)
      return newNarrowToken(own, externalId, provider, { repositories: names, permissionsFrom })
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
