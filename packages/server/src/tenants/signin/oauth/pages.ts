/** The pages on which a person lets a client log in. */
import type { Html } from '../../../ground/http/html.ts'
import { html } from '../../../ground/http/html.ts'
import type { RouteReply } from '../../../ground/http/reply.ts'
import type { Membership, SignIn } from '../../people/authenticate.ts'
import type { People } from '../../people/people.ts'
import type { FormToken } from '../html.ts'
import { hiddenField, renderAlert, renderField, renderForm, renderPage } from '../html.ts'
import { isCodePage } from './clients.ts'
import type { AuthorizeRequest } from './authorize.ts'

export type OAuthPageState = { token: FormToken; message?: string; status?: number }

export const openWorkspaces = ({ workspaces }: SignIn): Membership[] =>
  workspaces.filter(({ archived_at }) => archived_at === null)

/** For a content security policy: the origin, or the scheme of an address without one. */
const sourceOf = (uri: string): string => {
  const { origin, protocol } = new URL(uri)
  return origin === 'null' ? protocol : origin
}

function leadsTo(uri: string, own: string): string {
  if (isCodePage(uri, own)) return 'A code is shown then, which you copy into the program.'
  const { protocol, hostname, host } = new URL(uri)
  const isHere = protocol === 'http:' && host !== new URL(own).host
  return isHere
    ? `You come back to a program on this computer (${hostname}).`
    : `You are sent to ${host === '' ? protocol : host} then.`
}

export const createOAuthPages = (people: People) => ({
  consent: consentPage(people),
  ...createDevicePages(people),
  done,
  code,
  failure,
})

const choices = (
  action: string,
  token: FormToken,
  workspaces: readonly Membership[],
  ...hidden: Html[]
): Html => {
  const [first] = workspaces
  const allow = workspaces.map((each) =>
    renderForm(
      { action, token, button: `Allow in ${each.name} (${each.role})`, isFirst: each === first },
      hiddenField('workspace_id', each.id),
      ...hidden,
    ),
  )
  const none = html`<p role="alert">
    You are not a member of any workspace: ask an owner for an invitation.
  </p>`
  return html`${first ? allow : none}
  ${renderForm({ action, token, button: 'Deny' }, hiddenField('decision', 'deny'), ...hidden)}`
}

const told = (client: string, { person }: SignIn): Html => html`
  <p>
    <strong>${client}</strong> asks to act for you, ${person.name} (${person.email}), in one
    workspace.
  </p>
  <p>
    It may do there what your role allows, until you end the login among the API keys of the
    workspace, or leave the workspace.
  </p>
`

const consentPage =
  ({ at }: People) =>
  (
    { token, message, status = 200 }: OAuthPageState,
    { client, redirectUri, workspace }: AuthorizeRequest,
    { signIn, search, own }: { signIn: SignIn; search: string; own: string },
  ): RouteReply => {
    const open = openWorkspaces(signIn)
    const named = open.filter(({ id }) => id === workspace)
    const isForeign = workspace !== null && named.length === 0
    const action = `${at('/oauth/authorize')}?${search}`
    return renderPage(
      {
        status,
        title: `Let ${client.name} act for you`,
        formsLeadTo: sourceOf(redirectUri),
        body: html`${renderAlert(message)}
          ${renderAlert(isForeign ? 'You are not a member of the workspace that it asks for.' : undefined)}
          ${told(client.name, signIn)}
          <p>${leadsTo(redirectUri, own)}</p>
          ${choices(action, token, named.length > 0 ? named : open)}`,
      },
      token.cookies,
    )
  }

function createDevicePages({ at }: People) {
  const enterCode = (
    { token, message, status = 200 }: OAuthPageState,
    userCode: string,
  ): RouteReply =>
    renderPage(
      {
        status,
        title: 'Log in on another device',
        body: html`${renderAlert(message)}
          <p>Type the code that the program shows.</p>
          ${renderForm(
            { action: at('/oauth/device'), token, button: 'Go on', isFirst: true },
            renderField({ name: 'user_code', label: 'Code', value: userCode }),
          )}`,
      },
      token.cookies,
    )

  const device = (
    { token }: OAuthPageState,
    { client, userCode, signIn }: { client: string; userCode: string; signIn: SignIn },
  ): RouteReply =>
    renderPage(
      {
        title: `Let ${client} act for you`,
        body: html`${told(client, signIn)}
          <p>
            Go on only where you have begun this login yourself: who sent you the code acts for you
            then.
          </p>
          ${choices(
            at('/oauth/device/decision'),
            token,
            openWorkspaces(signIn),
            hiddenField('user_code', userCode),
          )}`,
      },
      token.cookies,
    )
  return { enterCode, device }
}

const done = (isAllowed: boolean): RouteReply =>
  renderPage({
    title: isAllowed ? 'The program is logged in' : 'The program is not logged in',
    body: html`<p>You can close this page and go back to the program.</p>`,
  })

const code = (shown: string): RouteReply =>
  renderPage({
    title: 'Copy this code into the program',
    body: html`<p><strong>${shown}</strong></p>
      <p>It is valid for five minutes. Give it to nobody else.</p>`,
  })

const failure = (why: string): RouteReply =>
  renderPage({ status: 400, title: 'This login cannot go on', body: html`<p>${why}</p>` })
