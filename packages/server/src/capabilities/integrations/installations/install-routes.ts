import {
  InstallStarted,
  InstallationShown,
  IntegrationShown,
  Uninstall,
  Uninstalled,
  integrationIds,
} from '@steward/protocol/integrations.ts'
import { ListOf } from '@steward/protocol/primitives.ts'
import { wholePage } from '../../../ground/core/text/page.ts'
import { emptyReply, jsonReply } from '../../../ground/http/reply.ts'
import type { Route } from '../../../ground/http/route.ts'
import { section } from '../../../ground/http/section.ts'
import type { SignIn } from '../../../tenants/people/authenticate.ts'
import type { People } from '../../../tenants/people/people.ts'
import { checkFormToken, formToken } from '../../../tenants/signin/form-token.ts'
import { confirmationPage } from './confirmation-page.ts'
import { appHeaders } from '../deliveries/entrance.ts'
import {
  beginInstall,
  finishInstall,
  onlyInstallation,
  uninstallApp,
  workspaceToConfirm,
} from './installations.ts'
import { displayNames, parseIntegrationId } from '../kinds.ts'
import type { ReceiveDeps } from '../deliveries/receive.ts'
import { deliveryBody } from '../deliveries/receive.ts'
import { receiveForApp } from '../deliveries/receive-app.ts'
import { integrationStore, showInstallation } from '../store.ts'
import type { TokenDeps } from './token.ts'

const integrations = section('Integrations', ['workspace'], '/v1/ext/integrations')
const administration = section('Integrations', ['admin'], '/v1/ext/integrations')
const open = section('Integrations', ['anyone'], '/v1/ext/integrations')

const returningUser = (signIn: SignIn | undefined) =>
  signIn && {
    id: signIn.person.id,
    administers: (tenant: string) =>
      signIn.workspaces.some(
        ({ id, role, archived_at }) =>
          id === tenant && archived_at === null && (role === 'admin' || role === 'owner'),
      ),
  }

type InstallationDeps = TokenDeps &
  ReceiveDeps & {
    publicUrl: string | undefined
    people: People
  }

/** Where a browser comes back from a provider. */
const callbackRoutes = (deps: InstallationDeps): Route[] => [
  open.get(
    '/:app/callback',
    {
      summary: 'Come back from the installation of an app',
      description:
        'Where the provider sends the browser. An installation that a key has begun is answered with a page that names the workspace and asks whether the app may serve it.',
      answer: InstallationShown,
    },
    async ({ params, search, header, address, origin, signal }) => {
      await deps.limits.admit('sign_in', address)
      const integration = parseIntegrationId(params.app)
      const query = new URLSearchParams(search)
      const workspace = await workspaceToConfirm(deps, { query, integration })
      if (workspace)
        return confirmationPage({ integration, search, workspace }, formToken(deps.people, header))
      const user = returningUser(await deps.people.find(header))
      const base = deps.publicUrl ?? origin
      return finishInstall(deps, { query, user, integration, base }, signal)
    },
  ),
  open.raw.post(
    '/:app/callback',
    {
      summary: 'Confirm the installation of an app from its page',
      answer: 'bytes',
      isPage: true,
    },
    async ({ params, header, address, origin, signal }, raw) => {
      await deps.limits.admit('sign_in', address)
      const integration = parseIntegrationId(params.app)
      const given = await raw.form()
      const query = new URLSearchParams(given.get('search') ?? '')
      // Without a state that waits for an answer there is no page whose form this could be.
      if (await workspaceToConfirm(deps, { query, integration }))
        checkFormToken(deps.people, header, given)
      const user = returningUser(await deps.people.find(header))
      const base = deps.publicUrl ?? origin
      return jsonReply(200, await finishInstall(deps, { query, user, integration, base }, signal))
    },
  ),
]

export const installationRoutes = (deps: InstallationDeps): Route[] => [
  integrations.get(
    '',
    { summary: 'List integrations', answer: ListOf(IntegrationShown) },
    async ({ db, tenant }) => {
      const installed = await integrationStore(db.read).installations(tenant)
      const shown = integrationIds.map((id) => ({
        id,
        type: 'integration',
        display_name: displayNames[id],
        configured: id === 'webhook' || deps.apps.has(id),
        installations: installed
          .filter(({ integration }) => integration === id)
          .map(showInstallation),
      }))
      return wholePage(shown, integrationIds)
    },
  ),
  administration.post(
    '/:app/install',
    {
      summary: 'Begin the installation of an app',
      description:
        'The URL installs it once, within ten minutes. A person who begins it has to come back with the same sign-in; where a key begins it, whoever comes back is shown the workspace and asked once.',
      answer: InstallStarted,
    },
    async ({ tenant, params, principal, origin }) => {
      const user = principal.kind === 'user' ? principal.userId : null
      const base = deps.publicUrl ?? origin
      const begun = { tenant, user, integration: parseIntegrationId(params.app), base }
      return { type: 'integration_install', ...(await beginInstall(deps, begun)) }
    },
  ),
  administration.post(
    '/:app/uninstall',
    {
      summary: 'End an installation, here and at its provider',
      description:
        'Its publications tell nobody anything any more. Without an installation_id it is the only one that has not ended.',
      body: Uninstall,
      answer: Uninstalled,
    },
    async ({ db, tenant, params, body: { installation_id }, signal }) => {
      const integration = parseIntegrationId(params.app)
      const id = installation_id ?? (await onlyInstallation(db.read, tenant, integration))
      return uninstallApp(deps, { db, tenant, integration, id }, signal)
    },
  ),
  ...callbackRoutes(deps),
  open.raw.post(
    '/:app/webhook',
    {
      summary: 'Receive a signed request of GitHub, Linear or Slack',
      description: 'Signed as its provider signs.',
      bytes: { type: 'application/json', description: 'An event, as its provider sends it.' },
      limits: deliveryBody,
      answer: 'any',
    },
    async ({ params, header, address }, { text }) => {
      const integration = parseIntegrationId(params.app)
      const headers = Object.fromEntries(appHeaders.map((name) => [name, header(name)]))
      const delivery = { headers, body: Buffer.from(await text()) }
      const answer = await receiveForApp(deps, { integration, delivery, address })
      return answer === undefined ? emptyReply(200) : { challenge: answer }
    },
  ),
]
