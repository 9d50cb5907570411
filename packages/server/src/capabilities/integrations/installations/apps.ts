/** The apps that the operator has fully configured. */
import type { IntegrationId } from '@steward/protocol/integrations.ts'
import type { Config } from '../../../ground/config/config.ts'
import { invalid } from '../../../ground/core/errors.ts'
import type { App } from './app.ts'
import { githubApp } from '../github/app.ts'
import { linearApp } from '../linear/app.ts'
import { slackApp } from '../slack/app.ts'
import { displayNames } from '../kinds.ts'

export type Apps = ReadonlyMap<IntegrationId, App>

export function createApps({ github, linear, slack }: Config['integrations']): Apps {
  const apps: App[] = []
  const { appId, slug, privateKey, clientId, clientSecret, webhookSecret, url, apiUrl } = github
  if (appId && slug && privateKey && clientId && clientSecret && webhookSecret)
    apps.push(
      githubApp({ appId, slug, privateKey, clientId, clientSecret, webhookSecret, url, apiUrl }),
    )
  if (linear.clientId && linear.clientSecret && linear.webhookSecret)
    apps.push(
      linearApp({
        clientId: linear.clientId,
        clientSecret: linear.clientSecret,
        webhookSecret: linear.webhookSecret,
        url: linear.url,
        apiUrl: linear.apiUrl,
      }),
    )
  const { signingSecret } = slack
  if (slack.clientId && slack.clientSecret && signingSecret) {
    const { clientId, clientSecret, url, apiUrl } = slack
    apps.push(slackApp({ clientId, clientSecret, signingSecret, url, apiUrl }))
  }
  return new Map(apps.map((app) => [app.id, app]))
}

export function getApp(apps: Apps, id: IntegrationId): App {
  const app = apps.get(id)
  if (!app) throw invalid(reasons[id])
  return app
}

const notSetUp = (id: 'github' | 'linear' | 'slack') =>
  `${id}: the operator has not set up ${displayNames[id]}; docs/integrations-${id}.md says how`

const reasons: Readonly<Record<IntegrationId, string>> = {
  webhook: 'webhook: there is nothing to install; create a publication',
  github: notSetUp('github'),
  linear: notSetUp('linear'),
  slack: notSetUp('slack'),
}
