/** The page that asks whoever comes back from a provider whether the app may serve the workspace. */
import type { IntegrationId } from '@steward/protocol/integrations.ts'
import { html } from '../../../ground/http/html.ts'
import type { RouteReply } from '../../../ground/http/reply.ts'
import type { FormToken } from '../../../tenants/signin/html.ts'
import { renderForm, renderPage } from '../../../tenants/signin/html.ts'
import { displayNames } from '../kinds.ts'

type BegunByKey = {
  integration: IntegrationId
  /** The query with which the provider has sent the browser back. */
  search: string
  workspace: { id: string; name: string }
}

export function confirmationPage(
  { integration, search, workspace: { id, name } }: BegunByKey,
  token: FormToken,
): RouteReply {
  const provider = displayNames[integration]
  return renderPage(
    {
      title: `Install into ${name}?`,
      body: html`<p>
          From now on the agents of the workspace <strong>${name}</strong> (${id}) serve what you
          have chosen at ${provider}: they read the messages there that call them, and they answer.
        </p>
        <p>
          Go on only if this is your workspace. If somebody else has sent you the link, close this
          page.
        </p>
        ${renderForm(
          {
            action: `/v1/ext/integrations/${integration}/callback`,
            token,
            button: `Install into ${name}`,
          },
          html`<input type="hidden" name="search" value="${search}" />`,
        )}`,
    },
    token.cookies,
  )
}
