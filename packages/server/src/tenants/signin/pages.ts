/** What the pages of sign-in say. They tell the truth: no email is promised where the server sends none. */
import type { Html } from '../../ground/http/html.ts'
import { html } from '../../ground/http/html.ts'
import type { RouteReply } from '../../ground/http/reply.ts'
import type { InvitationRow } from '../members/store.ts'
import type { SignIn } from '../people/authenticate.ts'
import { selectWorkspace } from '../people/authenticate.ts'
import type { People } from '../people/people.ts'
import type { FormToken } from './html.ts'
import {
  renderAlert,
  emailField,
  renderField,
  renderForm,
  hiddenField,
  newPasswordField,
  renderPage,
} from './html.ts'

/** `to`: the path of this service to which the sign-in leads. */
export type PageState = { token: FormToken; message?: string; status?: number; to?: string }

/** A page with the reason for which the last form was refused. */
const statedPage = (
  { token, message, status = 200 }: PageState,
  title: string,
  body: Html,
): RouteReply =>
  renderPage({ title, status, body: html`${renderAlert(message)} ${body}` }, token.cookies)

const toField = ({ to }: PageState): Html =>
  to === undefined ? html`` : hiddenField('return_to', to)

const toQuery = ({ to }: PageState): string =>
  to === undefined ? '' : `?return_to=${encodeURIComponent(to)}`

export function createSignInPages({ at, mail, providers, isByProvidersAlone }: People) {
  /** Where a server sends no email, its log has what the email would bring. */
  const sentTo = (what: string): string =>
    mail.sends
      ? `If somebody here has this address, ${what} is on its way.`
      : `This server sends no email. If somebody here has this address, its operator finds ${what} in the log of the server.`

  const providerLinks = (shown: PageState): Html => {
    if (providers.length === 0) return html``
    const links = providers.map(
      ({ id, name }) =>
        html`<a
          class="button"
          href="${at(`/v1/ext/oauth/${id}/authorize`)}${toQuery({ ...shown, to: shown.to ?? at('/console/') })}"
          >Sign in with ${name}</a
        >`,
    )
    return html`${isByProvidersAlone ? '' : html`<p class="or">or</p>`} ${links}`
  }

  const signInByProvider = (shown: PageState): RouteReply =>
    statedPage(
      shown,
      'Sign in',
      html`${providerLinks(shown)}
        <footer>
          <a href="${at('/console/key')}">Use an API key</a> ·
          <a href="${at('/docs')}">API reference</a>
        </footer>`,
    )

  const signInByOwnWays = (shown: PageState, email?: string): RouteReply =>
    statedPage(
      shown,
      'Sign in',
      html`${renderForm(
          { action: at('/signin'), token: shown.token, button: 'Sign in', isFirst: true },
          toField(shown),
          emailField(email),
          renderField({
            name: 'password',
            label: 'Password',
            type: 'password',
            complete: 'current-password',
          }),
        )}
        <a class="button" href="${at('/signin/code')}${toQuery(shown)}">Sign in with a code</a>
        ${providerLinks(shown)}
        <footer>
          <a href="${at('/signin/reset')}">New password</a> ·
          <a href="${at('/console/key')}">Use an API key</a> ·
          <a href="${at('/docs')}">API reference</a> ·
          <a href="${at('/openapi.json')}">OpenAPI</a>
        </footer>`,
    )

  const code = (shown: PageState, email?: string): RouteReply => {
    const { token } = shown
    const ask = () =>
      renderForm(
        { action: at('/signin/code'), token, button: 'Send a code', isFirst: true },
        toField(shown),
        emailField(),
      )
    const enter = (address: string) =>
      html`<p>${sentTo('a code')}</p>
        ${renderForm(
          { action: at('/signin/code/confirm'), token, button: 'Sign in', isFirst: true },
          toField(shown),
          emailField(address),
          renderField({
            name: 'code',
            label: mail.sends ? 'Code from the email' : 'Code from the log of the server',
            complete: 'one-time-code',
          }),
        )}`
    const body = email === undefined ? ask() : enter(email)
    return statedPage(
      shown,
      'Sign in with a code',
      html`${body}
        <footer><a href="${at('/signin')}${toQuery(shown)}">Sign in with a password</a></footer>`,
    )
  }

  const signIn = isByProvidersAlone ? signInByProvider : signInByOwnWays
  return { signIn, code, ...resetPages(at, sentTo), ...insidePages(at), ...invitationPages(at) }
}

function resetPages(at: People['at'], sentTo: (what: string) => string) {
  const reset = (shown: PageState, resetToken: string | null): RouteReply => {
    const { token } = shown
    const ask = () =>
      renderForm(
        { action: at('/signin/reset'), token, button: 'Send a link', isFirst: true },
        emailField(),
      )
    const set = (given: string) =>
      renderForm(
        { action: at('/signin/reset/confirm'), token, button: 'Set the password', isFirst: true },
        hiddenField('token', given),
        newPasswordField(),
      )
    return statedPage(
      shown,
      'New password',
      html`${resetToken === null ? ask() : set(resetToken)}
        <footer><a href="${at('/signin')}">Sign in</a></footer>`,
    )
  }

  const resetSent = (): RouteReply =>
    renderPage({
      title: 'New password',
      body: html`<p>${sentTo('a link')}</p>
        <footer><a href="${at('/signin')}">Sign in</a></footer>`,
    })

  const usedReset = (): RouteReply =>
    renderPage({
      status: 404,
      title: 'This link sets no password',
      body: html`<p>This link has been used or is too old.</p>
        <p>
          <a href="${at('/signin/reset')}">Ask for a new link</a> ·
          <a href="${at('/signin')}">Sign in</a>
        </p>`,
    })
  return { reset, resetSent, usedReset }
}

/** The page of a person who has signed in. */
function insidePages(at: People['at']) {
  const workspaces = (signIn: SignIn, token: FormToken): Html[] => {
    const active = selectWorkspace(signIn, () => undefined)?.id
    return signIn.workspaces
      .filter(({ archived_at }) => archived_at === null)
      .map(({ id, name, role }) =>
        id === active
          ? html`<p><strong>${name}</strong> (${role}) is chosen.</p>`
          : renderForm(
              { action: at('/signin/workspaces'), token, button: `Choose ${name} (${role})` },
              hiddenField('workspace_id', id),
            ),
      )
  }
  const home = (signIn: SignIn, shown: PageState): RouteReply =>
    statedPage(
      shown,
      'You are signed in',
      html`<p>As ${signIn.person.name}, ${signIn.person.email}.</p>
        <p><a class="button" href="${at('/console/')}">Open the console</a></p>
        <h2>Workspaces</h2>
        ${workspaces(signIn, shown.token)}
        ${renderForm({ action: at('/signin/out'), token: shown.token, button: 'Sign out' })}
        <footer><a href="${at('/docs')}">API reference</a></footer>`,
    )
  return { home }
}

/** `named`: the workspace that the invitation opens. */
type OpenedInvitation = { row: InvitationRow; named: string; token: string }

function invitationPages(at: People['at']) {
  /** Reads the token behind `#` by a script; without scripts a person copies it. */
  const opened = (shown: PageState): RouteReply =>
    renderPage(
      {
        title: 'You are invited',
        script: at('/signin/link.js'),
        body: html`${renderAlert(shown.message)}
          <p>Copy what stands behind # in the address of this page.</p>
          ${renderForm(
            {
              action: at('/signin/invitation'),
              token: shown.token,
              button: 'Go on',
              isFirst: true,
            },
            renderField({ name: 'token', label: 'The end of the link' }),
          )}`,
      },
      shown.token.cookies,
    )

  const invitation = (
    shown: PageState,
    { row, named, token }: OpenedInvitation,
    signIn: SignIn | undefined,
    given: Record<string, string> = {},
  ): RouteReply => {
    const newPerson = [
      row.email === null ? emailField(given['email']) : html`<p>For ${row.email}.</p>`,
      renderField({
        name: 'name',
        label: 'Your name',
        complete: 'name',
        value: given['name'] ?? '',
      }),
      newPasswordField(),
    ]
    return statedPage(
      shown,
      'You are invited',
      html`<p>
          You join <strong>${named}</strong> as
          ${row.role}${signIn ? html`, as ${signIn.person.email}` : ''}.
        </p>
        ${renderForm(
          {
            action: at('/signin/invitation/join'),
            token: shown.token,
            button: 'Join',
            isFirst: true,
          },
          hiddenField('token', token),
          ...(signIn ? [] : newPerson),
        )}
        ${
          signIn
            ? html``
            : html`<footer><a href="${at('/signin')}">I have signed in here before</a></footer>`
        }`,
    )
  }

  const usedInvitation = (): RouteReply =>
    renderPage({
      status: 404,
      title: 'This link opens nothing',
      body: html`<p>This link has been used or has ended; ask for a new one.</p>
        <p><a href="${at('/signin')}">Sign in</a></p>`,
    })
  return { opened, invitation, usedInvitation }
}
