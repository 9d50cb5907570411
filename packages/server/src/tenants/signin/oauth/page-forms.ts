/** Forms of the pages of logins: only a person who is signed in posts them, from a page of this service. */
import { PlatformError, forbidden } from '../../../ground/core/errors.ts'
import type { Queries } from '../../../ground/database/database.ts'
import { findRoleForShare, getOpenWorkspaceForShare } from '../../../ground/database/lock.ts'
import type { Header } from '../../../ground/http/caller.ts'
import { errorAnswer } from '../../../ground/http/errors.ts'
import type { RouteReply } from '../../../ground/http/reply.ts'
import type { SignIn } from '../../people/authenticate.ts'
import type { People } from '../../people/people.ts'
import { checkForm, formToken } from '../form-token.ts'
import { seeOther } from '../html.ts'
import type { OAuthPageState } from './pages.ts'

export type PageCall = { header: Header; search: string; address: string }

/** Throws unless the person is a member of the open workspace. Nobody changes that until the transaction ends. */
export async function lockMember(tx: Queries, tenant: string, person: string): Promise<void> {
  await getOpenWorkspaceForShare(tx, tenant)
  if (!(await findRoleForShare(tx, tenant, person)))
    throw forbidden('workspace_id: you are not a member of this workspace')
}

export function pageForms(people: People) {
  const { at } = people

  const toSignIn = (path: string): RouteReply =>
    seeOther(`${at('/signin')}?return_to=${encodeURIComponent(path)}`)

  const stateOf = (header: Header, error?: PlatformError): OAuthPageState => ({
    token: formToken(people, header),
    ...(error && {
      message: error.message,
      status: errorAnswer(error, { dialect: 'interface', requestId: '' }).status,
    }),
  })

  /** Calls `run` with the sign-in. A refusal shows the page again with the reason. Undefined: nobody is signed in. */
  async function post(
    call: PageCall,
    form: URLSearchParams,
    run: (signIn: SignIn) => Promise<RouteReply>,
    again: (shown: OAuthPageState) => RouteReply,
  ): Promise<RouteReply | undefined> {
    const signIn = await people.find(call.header)
    if (!signIn) return undefined
    try {
      checkForm(people, call.header, form)
      await people.admit('sign_in', call.address)
      return await run(signIn)
    } catch (error) {
      if (!(error instanceof PlatformError)) throw error
      return again(stateOf(call.header, error))
    }
  }

  return { toSignIn, stateOf, post }
}
