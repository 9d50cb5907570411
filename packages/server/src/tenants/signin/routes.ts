/** Pages for people, until they have a console: sign-in, code, reset, invitation, choice of a workspace. */
import { InvitationAccept, PasswordReset, SignInByCode } from '@steward/protocol/people.ts'
import { EmailBody, SignInByPassword } from '@steward/protocol/people.ts'
import { PlatformError } from '../../ground/core/errors.ts'
import { parseInput } from '../../ground/http/body.ts'
import type { Header } from '../../ground/http/caller.ts'
import { errorAnswer } from '../../ground/http/errors.ts'
import type { RouteReply } from '../../ground/http/reply.ts'
import type { Route } from '../../ground/http/route.ts'
import { route } from '../../ground/http/route.ts'
import { section } from '../../ground/http/section.ts'
import { acceptInvitation } from '../members/invitations.ts'
import type { InvitationRow } from '../members/store.ts'
import { firstOwner, invitationStore } from '../members/store.ts'
import {
  chooseWorkspace,
  endSignIns,
  mayReset,
  requestCode,
  requestReset,
  resetPassword,
  signInByCode,
  signInByPassword,
} from '../people/actions.ts'
import type { SignIn } from '../people/authenticate.ts'
import { workspaceOf } from '../people/authenticate.ts'
import type { Visitor } from '../people/library/library.ts'
import type { People } from '../people/people.ts'
import { visitorOf } from '../people/people.ts'
import { workspaceStore } from '../workspaces/store.ts'
import { checkForm, formToken } from './form-token.ts'
import type { FormToken, Html } from './html.ts'
import { alert, emailField, field, form, html, newPasswordField, page, seeOther } from './html.ts'

const pages = section('Sign-in', ['anyone'], '/signin')

type PageState = { token: FormToken; message?: string; status?: number }
type FormPost = { fields: Record<string, string>; header: Header; visitor: Visitor }

/** Messages for error codes of identity providers; other codes are shown as they are. */
const providerErrors: Record<string, string> = {
  unable_to_create_user: 'Nobody has invited this address, or the provider does not vouch for it.',
  account_not_linked: 'The provider does not vouch for this address, or it is not proved here.',
  provider_failed:
    'The provider gave an answer that is not understood here. The operator of this server finds the reason in its log.',
  state_mismatch: 'The sign-in took too long, or was begun in another browser. Try again.',
}

const shownError = (code: string): string => providerErrors[code] ?? `The sign-in failed: ${code}`

/** A page with the reason for which the last form was refused. */
const statedPage = (
  { token, message, status = 200 }: PageState,
  title: string,
  body: Html,
): RouteReply => page({ title, status, body: html`${alert(message)} ${body}` }, token.cookies)

export function signInPages(people: People): Route[] {
  const { cookie, clock, databases, providers } = people

  /** Where a server sends no mail, its log has what a letter would bring. */
  const sentTo = (what: string): string =>
    people.mail.sends
      ? `If somebody here has this address, ${what} is on its way.`
      : `This server sends no mail. If somebody here has this address, its operator finds ${what} in the log of the server.`

  const codeForm = ({ token }: PageState, email: string): Html =>
    form(
      { action: '/signin/code/confirm', token, button: 'Sign in' },
      emailField(email),
      field({ name: 'code', label: 'Code from the letter', complete: 'one-time-code' }),
    )

  const signInPage = (shown: PageState, email?: string): RouteReply =>
    statedPage(
      shown,
      'Sign in',
      html`${form(
          { action: '/signin', token: shown.token, button: 'Sign in' },
          emailField(email),
          field({
            name: 'password',
            label: 'Password',
            type: 'password',
            complete: 'current-password',
          }),
        )}
        <p>
          <a href="/signin/code">Sign in by a code</a> · <a href="/signin/reset">New password</a>
        </p>
        ${providers.map(
          ({ id, name }) =>
            html`<p><a href="/v1/ext/oauth/${id}/authorize">Sign in by ${name}</a></p>`,
        )}
        <p><a href="/docs">The interface</a> · <a href="/openapi.json">its description</a></p>`,
    )

  const codePage = (shown: PageState, email?: string): RouteReply =>
    statedPage(
      shown,
      'Sign in by a code',
      html`${
        email === undefined
          ? form(
              { action: '/signin/code', token: shown.token, button: 'Send a code' },
              emailField(),
            )
          : html`<p>${sentTo('a code')}</p>
              ${codeForm(shown, email)}`
      }`,
    )

  const resetPage = (shown: PageState, token: string | null): RouteReply =>
    statedPage(
      shown,
      'New password',
      html`${
        token === null
          ? form(
              { action: '/signin/reset', token: shown.token, button: 'Send a link' },
              emailField(),
            )
          : form(
              { action: '/signin/reset/confirm', token: shown.token, button: 'Set the password' },
              html`<input type="hidden" name="token" value="${token}" />`,
              newPasswordField(),
            )
      }`,
    )

  const usedResetPage = (): RouteReply =>
    page({
      status: 404,
      title: 'This link sets no password',
      body: html`<p>This link has been used or is too old.</p>
        <p><a href="/signin/reset">Ask for a new link</a> · <a href="/signin">Sign in</a></p>`,
    })

  const workspacesOf = (signIn: SignIn, token: FormToken, active: string | undefined): Html[] =>
    signIn.workspaces
      .filter(({ archived_at }) => archived_at === null)
      .map(({ id, name, role }) =>
        id === active
          ? html`<p><strong>${name}</strong> (${role}) is chosen.</p>`
          : form(
              { action: '/signin/workspaces', token, button: `Choose ${name} (${role})` },
              html`<input type="hidden" name="workspace_id" value="${id}" />`,
            ),
      )

  const homePage = (signIn: SignIn, shown: PageState): RouteReply =>
    statedPage(
      shown,
      'You are signed in',
      html`<p>As ${signIn.person.name}, ${signIn.person.email}.</p>
        <h2>Workspaces</h2>
        ${workspacesOf(signIn, shown.token, workspaceOf(signIn, () => undefined)?.id)}
        ${form({ action: '/signin/out', token: shown.token, button: 'Sign out' })}
        <p><a href="/docs">The interface</a></p>`,
    )

  /** The name of the workspace that the invitation opens. The first owner of all may come before the workspace. */
  async function invitedTo({ tenant_id }: InvitationRow): Promise<string> {
    const workspaces = workspaceStore(databases.control.read)
    const [workspace] =
      tenant_id === firstOwner ? [await workspaces.first()] : await workspaces.some([tenant_id])
    return workspace?.name ?? 'Steward'
  }

  async function invitationPage(
    shown: PageState,
    token: string,
    signIn: SignIn | undefined,
    given: Record<string, string> = {},
  ) {
    const invitation = await invitationStore(databases.control.read).byToken(token, clock.now())
    if (!invitation)
      return page({
        status: 404,
        title: 'This link opens nothing',
        body: html`<p>This link has been used or has ended; ask for a new one.</p>
          <p><a href="/signin">Sign in</a></p>`,
      })
    const newPerson = [
      invitation.email === null
        ? emailField(given['email'])
        : html`<p>For ${invitation.email}.</p>`,
      field({ name: 'name', label: 'Your name', complete: 'name', value: given['name'] ?? '' }),
      newPasswordField(),
    ]
    return statedPage(
      shown,
      'You are invited',
      html`<p>
          You join <strong>${await invitedTo(invitation)}</strong> as
          ${invitation.role}${signIn ? html`, as ${signIn.person.email}` : ''}.
        </p>
        ${form(
          { action: `/signin/invitation/${token}`, token: shown.token, button: 'Join' },
          ...(signIn ? [] : newPerson),
        )}
        ${signIn ? html`` : html`<p><a href="/signin">I have signed in here before</a></p>`}`,
    )
  }

  /** The route of a form. A refusal shows the page again with the reason. */
  const formRoute = (
    path: '' | `/${string}`,
    summary: string,
    act: (posted: FormPost, params: Record<string, string>) => Promise<RouteReply>,
    again: (
      shown: PageState,
      posted: FormPost,
      params: Record<string, string>,
    ) => Promise<RouteReply> | RouteReply,
  ): Route =>
    pages.raw.post(path, { summary, answer: 'bytes', isPage: true }, async (call, raw) => {
      const { header } = call
      const params: Record<string, string> = call.params
      const given = await raw.form()
      const { form_token: _, ...fields } = Object.fromEntries(given)
      const posted = { fields, header, visitor: visitorOf(call) }
      try {
        checkForm(people, header, given)
        return await act(posted, params)
      } catch (error) {
        if (!(error instanceof PlatformError)) throw error
        const { status } = errorAnswer(error, { dialect: 'interface', requestId: '' })
        const token = formToken(people, header)
        return again({ token, message: error.message, status }, posted, params)
      }
    })

  const pageRoute = (
    path: '' | `/${string}`,
    summary: string,
    show: (
      shown: PageState,
      call: { header: Header; search: URLSearchParams; params: Record<string, string> },
    ) => Promise<RouteReply> | RouteReply,
  ): Route =>
    pages.get(
      path,
      { summary, answer: 'bytes', isPage: true },
      async ({ header, search, params }) =>
        show(
          { token: formToken(people, header) },
          { header, search: new URLSearchParams(search), params },
        ),
    )

  return [
    route(
      {
        method: 'get',
        path: '/',
        callers: ['anyone'],
        section: 'Sign-in',
        summary: 'Send a browser to the page to sign in',
        answer: 'bytes',
        isPage: true,
      },
      async ({ accept }) => {
        if (accept.includes('text/html')) return seeOther('/signin')
        throw new PlatformError('not_found', 'there is no GET /; there is /openapi.json')
      },
    ),
    pageRoute('', 'The page to sign in', async (shown, { header, search }) => {
      const signIn = await people.find(header)
      const error = search.get('error')
      const told = error === null ? shown : { ...shown, message: shownError(error) }
      const isSet = search.get('done') === 'password'
      const shownNow = isSet ? { ...told, message: 'The password is set: sign in with it.' } : told
      return signIn ? homePage(signIn, shownNow) : signInPage(shownNow)
    }),
    formRoute(
      '',
      'Sign in from the page',
      async ({ fields, visitor }) => {
        const given = parseInput(SignInByPassword, fields)
        return seeOther('/signin', cookie.set(await signInByPassword(people, given, visitor)))
      },
      (shown, { fields }) => signInPage(shown, fields['email']),
    ),
    pageRoute('/code', 'The page that sends a code', (shown) => codePage(shown)),
    formRoute(
      '/code',
      'Send a code from the page',
      async ({ fields, header, visitor }) => {
        const { email } = parseInput(EmailBody, fields)
        await requestCode(people, email, visitor)
        return codePage({ token: formToken(people, header) }, email)
      },
      (shown) => codePage(shown),
    ),
    formRoute(
      '/code/confirm',
      'Sign in by a code from the page',
      async ({ fields, visitor }) => {
        const given = parseInput(SignInByCode, fields)
        return seeOther('/signin', cookie.set(await signInByCode(people, given, visitor)))
      },
      (shown, { fields }) => codePage(shown, fields['email']),
    ),
    pageRoute('/reset', 'The page for a new password', async (shown, { search }) => {
      const token = search.get('token')
      return token === null || (await mayReset(people, token))
        ? resetPage(shown, token)
        : usedResetPage()
    }),
    formRoute(
      '/reset',
      'Send a link for a new password from the page',
      async ({ fields, visitor }) => {
        await requestReset(people, parseInput(EmailBody, fields).email, visitor)
        const body = html`<p>${sentTo('a link')}</p>`
        return page({ title: 'New password', body })
      },
      (shown) => resetPage(shown, null),
    ),
    formRoute(
      '/reset/confirm',
      'Set a new password from the page',
      async ({ fields, visitor }) => {
        const { password, ...rest } = fields
        const given = parseInput(PasswordReset, { ...rest, new_password: password })
        const { token, new_password } = given
        await resetPassword(people, { token, password: new_password }, visitor)
        return seeOther('/signin?done=password')
      },
      (shown, { fields }) => resetPage(shown, fields['token'] ?? null),
    ),
    pageRoute(
      '/invitation/:token',
      'The page of an invitation',
      async (shown, { header, params }) =>
        invitationPage(shown, params['token'] ?? '', await people.find(header)),
    ),
    formRoute(
      '/invitation/:token',
      'Accept an invitation from its page',
      async ({ fields, header, visitor }, { token = '' }) => {
        const signIn = await people.find(header)
        await people.admit('sign_in', visitor.address)
        const given = parseInput(InvitationAccept, { ...fields, token })
        return seeOther(
          '/signin',
          cookie.set(await acceptInvitation(people, { ...given, visitor, signIn })),
        )
      },
      async (shown, { header, fields }, { token = '' }) =>
        invitationPage(shown, token, await people.find(header), fields),
    ),
    formRoute(
      '/workspaces',
      'Choose a workspace from the page',
      async ({ fields, header }) => {
        const signIn = await people.find(header)
        if (signIn) await chooseWorkspace(people, signIn, fields['workspace_id'] ?? '')
        return seeOther('/signin')
      },
      (shown) => signInPage(shown),
    ),
    formRoute(
      '/out',
      'Sign out from the page',
      async ({ header }) => {
        const signIn = await people.find(header)
        if (signIn) await endSignIns(people, signIn.person.id, { only: signIn.id })
        return seeOther('/signin', cookie.clear())
      },
      (shown) => signInPage(shown),
    ),
  ]
}
