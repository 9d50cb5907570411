import {
  EmailBody,
  LetterRequested,
  Me,
  PasswordChange,
  PasswordReset,
  SignInByCode,
  SignInByPassword,
  SignIns,
  WorkspaceChoice,
} from '@steward/protocol/people.ts'
import { forbidden, notFound } from '../../ground/core/errors.ts'
import type { Header } from '../../ground/http/caller.ts'
import type { Principal } from '../../ground/http/principal.ts'
import { personIdOf, roleOf } from '../../ground/http/principal.ts'
import type { Route } from '../../ground/http/route.ts'
import { section } from '../../ground/http/section.ts'
import type { SignIn } from './authenticate.ts'
import {
  checkOwnWays,
  chooseWorkspace,
  endSignIns,
  requestCode,
  requestReset,
  resetPassword,
  signInByCode,
  signInByPassword,
} from './actions.ts'
import { signInEnded, showMe, signedInAnswer } from './answers.ts'
import type { People } from './people.ts'
import { readVisitor } from './people.ts'
import { peopleStore } from './store.ts'
import { notifyOfPeople } from './authenticate.ts'

const signIns = section('Sign-in', ['user'], '/v1/ext/auth')
const me = section('Sign-in', ['workspace', 'user'], '/v1/ext/me')

const requested = { type: 'letter_requested' }

export function signInRoutes(people: People): Route[] {
  const { databases, clock, cookie, origin } = people
  const { control } = databases

  /** Check of requests without a credential: a page of another origin signs nobody in here. */
  const checkPage = (header: Header) => origin.check(header, { isChange: false })

  async function mine(header: Header): Promise<SignIn> {
    const signIn = await people.find(header)
    if (!signIn) throw signInEnded()
    return signIn
  }

  return [
    me.get(
      '',
      {
        summary: 'Get the caller and its workspaces',
        description:
          'For a key, `user` is null and its workspace is the only one. For a login, the workspace is the only one too.',
        answer: Me,
      },
      async ({ principal, tenant, header }) => {
        if (principal.kind === 'user') return showMe(await mine(header), header)
        const workspace = await peopleStore(control.read).workspace(tenant)
        const role = roleOf(principal)
        const person = personIdOf(principal)
        return {
          user: person === undefined ? null : await peopleStore(control.read).shown(person),
          workspaces: workspace && role ? [{ ...workspace, role }] : [],
          active_workspace_id: tenant,
        }
      },
    ),
    signIns.post(
      '/sign_in',
      {
        callers: ['anyone'],
        summary: 'Sign in with email and password',
        description: 'The answer sets the session cookie.',
        body: SignInByPassword,
        answer: Me,
      },
      async ({ body, header, address }) => {
        checkPage(header)
        const token = await signInByPassword(people, body, readVisitor({ header, address }))
        return signedInAnswer(people, token, header)
      },
    ),
    signIns.post(
      '/code',
      {
        callers: ['anyone'],
        summary: 'Email a code to sign in with',
        description:
          'The answer is the same for an address that nobody has. Without a mail server the code stands in the log of the server.',
        body: EmailBody,
        answer: LetterRequested,
      },
      async ({ body, header, address }) => {
        checkPage(header)
        await requestCode(people, body.email, readVisitor({ header, address }))
        return requested
      },
    ),
    signIns.post(
      '/sign_in/code',
      {
        callers: ['anyone'],
        summary: 'Sign in with a code',
        description: 'The answer sets the session cookie. A code has three tries in five minutes.',
        body: SignInByCode,
        answer: Me,
      },
      async ({ body, header, address }) => {
        checkPage(header)
        const token = await signInByCode(people, body, readVisitor({ header, address }))
        return signedInAnswer(people, token, header)
      },
    ),
    signIns.post(
      '/reset',
      {
        callers: ['anyone'],
        summary: 'Email a link that sets a new password',
        description:
          'The answer is the same for an address that nobody has. Without a mail server the link stands in the log of the server.',
        body: EmailBody,
        answer: LetterRequested,
      },
      async ({ body, header, address }) => {
        checkPage(header)
        await requestReset(people, body.email, readVisitor({ header, address }))
        return requested
      },
    ),
    signIns.post(
      '/reset/confirm',
      {
        callers: ['anyone'],
        summary: 'Set a new password with the link of an email',
        description: 'All sign-ins of the person end.',
        body: PasswordReset,
        answer: 'none',
        status: 204,
      },
      async ({ body, header, address }) => {
        checkPage(header)
        const { token, new_password: password } = body
        await resetPassword(people, { token, password }, readVisitor({ header, address }))
        return { reply: 'empty', status: 204 }
      },
    ),
    signIns.post(
      '/password',
      {
        summary: 'Change the password',
        description: 'All other sign-ins of the person end.',
        body: PasswordChange,
        answer: 'none',
        status: 204,
      },
      async ({ principal, body, header, address }) => {
        checkOwnWays(people)
        const { userId, signInId } = personOf(principal)
        const visitor = readVisitor({ header, address })
        // Attack: guessing the password with a stolen cookie, from many addresses. It counts as attempts to sign in.
        await people.admit('sign_in', address)
        await people.admit('sign_in', userId)
        await people.admitPassword(userId, visitor)
        const library = await people.library()
        if (!(await library.isPassword(userId, body.current_password, visitor)))
          throw forbidden('current_password: this is not your password')
        const hash = await library.hashPassword(body.new_password, visitor)
        await control.write(async (tx) => {
          await peopleStore(tx).setPassword(userId, hash, clock.now())
          await peopleStore(tx).endSignIns(userId, { except: signInId })
          notifyOfPeople(tx)
        })
        return { reply: 'empty', status: 204 }
      },
    ),
    signIns.post(
      '/sign_out',
      {
        summary: 'Sign out',
        description: 'The answer removes the cookie.',
        answer: 'none',
        status: 204,
      },
      async ({ principal }) => {
        const { userId, signInId } = personOf(principal)
        await endSignIns(people, userId, { only: signInId })
        return { reply: 'empty', status: 204, headers: { 'set-cookie': cookie.clear() } }
      },
    ),
    signIns.post(
      '/workspace',
      {
        summary: 'Choose the workspace of requests that name none',
        description:
          'Holds for this sign-in. A request with the header `anthropic-workspace-id` names its workspace itself.',
        body: WorkspaceChoice,
        answer: Me,
      },
      async ({ body, header }) => {
        const signIn = await mine(header)
        await chooseWorkspace(people, signIn, body.workspace_id)
        return showMe({ ...signIn, chosen: body.workspace_id }, header)
      },
    ),
    signIns.get(
      '/sign_ins',
      { summary: 'List where you are signed in', answer: SignIns },
      async ({ principal }) => {
        const { userId, signInId } = personOf(principal)
        const rows = await peopleStore(control.read).signInsOf(userId, clock.now())
        return {
          data: rows.map((row) => ({ type: 'sign_in', current: row.id === signInId, ...row })),
        }
      },
    ),
    signIns.remove(
      '/sign_ins/:id',
      {
        summary: 'Sign out another browser',
        description: 'Ends one of your sign-ins, and what it has open within seconds.',
        type: 'sign_in_ended',
      },
      async ({ principal, params }) => {
        const ended = await endSignIns(people, personOf(principal).userId, { only: params.id })
        if (ended === 0) throw notFound('sign-in', params.id)
      },
    ),
  ]
}

function personOf(principal: Principal): Extract<Principal, { kind: 'user' }> {
  if (principal.kind !== 'user') throw forbidden('only a person who has signed in reaches this')
  return principal
}
