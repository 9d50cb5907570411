/** Pages for people, without scripts: sign-in, code, reset, invitation, choice of a workspace. They lead to the console. */
import { InvitationAccept, PasswordReset, SignInByCode } from '@steward/protocol/people.ts'
import { EmailBody, SignInByPassword } from '@steward/protocol/people.ts'
import { PlatformError } from '../../ground/core/errors.ts'
import { parseInput } from '../../ground/http/bodies/body.ts'
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
import type { Visitor } from '../people/library/library.ts'
import { isOwnPath } from '../people/oauth.ts'
import type { People } from '../people/people.ts'
import { readVisitor } from '../people/people.ts'
import { workspaceStore } from '../workspaces/store.ts'
import { checkForm, formToken } from './form-token.ts'
import { seeOther } from './html.ts'
import { linkScript } from './link-script.ts'
import type { PageState } from './pages.ts'
import { createSignInPages } from './pages.ts'

const pages = section('Sign-in', ['anyone'], '/signin')

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

export function signInPages(people: People): Route[] {
  const { cookie, clock, databases, at, origin } = people
  const show = createSignInPages(people)

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
    const row = await invitationStore(databases.control.read).byToken(token, clock.now())
    if (!row) return show.usedInvitation()
    return show.invitation(shown, { row, named: await invitedTo(row), token }, signIn, given)
  }

  /** Where a sign-in leads: to the page that asked for it, else to the console. */
  const leadOn = (to: string | undefined, header: Header): string =>
    to !== undefined && isOwnPath(to, origin.of(header)) ? to : at('/console/')

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
      const posted = { fields, header, visitor: readVisitor(call) }
      try {
        checkForm(people, header, given)
        return await act(posted, params)
      } catch (error) {
        if (!(error instanceof PlatformError)) throw error
        const { status } = errorAnswer(error, { dialect: 'interface', requestId: '' })
        const token = formToken(people, header)
        const to = fields['return_to']
        return again({ token, message: error.message, status, ...(to && { to }) }, posted, params)
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
        summary: 'Send a browser to the console',
        answer: 'bytes',
        isPage: true,
      },
      async ({ accept }) => {
        if (accept.includes('text/html')) return seeOther(at('/console/'))
        throw new PlatformError('not_found', 'there is no GET /; there is /openapi.json')
      },
    ),
    pageRoute('', 'The page to sign in', async (shown, { header, search }) => {
      const signIn = await people.find(header)
      const to = search.get('return_to')
      const led = to === null ? shown : { ...shown, to }
      const error = search.get('error')
      const told = error === null ? led : { ...led, message: shownError(error) }
      const isSet = search.get('done') === 'password'
      const shownNow = isSet ? { ...told, message: 'The password is set: sign in with it.' } : told
      return signIn ? show.home(signIn, shownNow) : show.signIn(shownNow)
    }),
    formRoute(
      '',
      'Sign in from the page',
      async ({ fields: { return_to: to, ...fields }, header, visitor }) => {
        const given = parseInput(SignInByPassword, fields)
        const token = await signInByPassword(people, given, visitor)
        return seeOther(leadOn(to, header), cookie.set(token))
      },
      (shown, { fields }) => show.signIn(shown, fields['email']),
    ),
    pageRoute('/code', 'The page that sends a code', (shown, { search }) => {
      const to = search.get('return_to')
      return show.code(to === null ? shown : { ...shown, to })
    }),
    formRoute(
      '/code',
      'Send a code from the page',
      async ({ fields: { return_to: to, ...fields }, header, visitor }) => {
        const { email } = parseInput(EmailBody, fields)
        await requestCode(people, email, visitor)
        return show.code({ token: formToken(people, header), ...(to && { to }) }, email)
      },
      (shown) => show.code(shown),
    ),
    formRoute(
      '/code/confirm',
      'Sign in with a code from the page',
      async ({ fields: { return_to: to, ...fields }, header, visitor }) => {
        const given = parseInput(SignInByCode, fields)
        const token = await signInByCode(people, given, visitor)
        return seeOther(leadOn(to, header), cookie.set(token))
      },
      (shown, { fields }) => show.code(shown, fields['email']),
    ),
    pageRoute('/reset', 'The page for a new password', async (shown, { search }) => {
      const token = search.get('token')
      return token === null || (await mayReset(people, token))
        ? show.reset(shown, token)
        : show.usedReset()
    }),
    formRoute(
      '/reset',
      'Send a link for a new password from the page',
      async ({ fields, visitor }) => {
        await requestReset(people, parseInput(EmailBody, fields).email, visitor)
        return show.resetSent()
      },
      (shown) => show.reset(shown, null),
    ),
    formRoute(
      '/reset/confirm',
      'Set a new password from the page',
      async ({ fields, visitor }) => {
        const { password, ...rest } = fields
        const given = parseInput(PasswordReset, { ...rest, new_password: password })
        const { token, new_password } = given
        await resetPassword(people, { token, password: new_password }, visitor)
        return seeOther(at('/signin?done=password'))
      },
      (shown, { fields }) => show.reset(shown, fields['token'] ?? null),
    ),
    pageRoute('/invitation', 'The page of a link of an invitation', (shown) => show.opened(shown)),
    pages.get(
      '/link.js',
      { summary: 'Get the script that reads a link', answer: 'bytes', isPage: true },
      linkScript,
    ),
    formRoute(
      '/invitation',
      'Show the invitation of a link',
      async ({ header, fields }) => {
        const token = formToken(people, header)
        return invitationPage({ token }, fields['token'] ?? '', await people.find(header))
      },
      (shown) => show.opened(shown),
    ),
    formRoute(
      '/invitation/join',
      'Accept an invitation from its page',
      async ({ fields, header, visitor }) => {
        const signIn = await people.find(header)
        await people.admit('sign_in', visitor.address)
        const given = parseInput(InvitationAccept, fields)
        const token = await acceptInvitation(people, { ...given, visitor, signIn })
        return seeOther(at('/console/'), cookie.set(token))
      },
      async (shown, { header, fields }) =>
        invitationPage(shown, fields['token'] ?? '', await people.find(header), fields),
    ),
    pageRoute(
      '/invitation/:token',
      'The page of an invitation, by a link of an earlier version',
      async (shown, { header, params }) =>
        invitationPage(shown, params['token'] ?? '', await people.find(header)),
    ),
    formRoute(
      '/workspaces',
      'Choose a workspace from the page',
      async ({ fields, header }) => {
        const signIn = await people.find(header)
        if (signIn) await chooseWorkspace(people, signIn, fields['workspace_id'] ?? '')
        return seeOther(at('/signin'))
      },
      (shown) => show.signIn(shown),
    ),
    formRoute(
      '/out',
      'Sign out from the page',
      async ({ header }) => {
        const signIn = await people.find(header)
        if (signIn) await endSignIns(people, signIn.person.id, { only: signIn.id })
        return seeOther(at('/signin'), cookie.clear())
      },
      (shown) => show.signIn(shown),
    ),
  ]
}
