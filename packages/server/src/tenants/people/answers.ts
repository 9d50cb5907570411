/** Answers to a person who is signed in. */
import type { Me } from '@steward/protocol/people.ts'
import { unauthorized } from '../../ground/core/errors.ts'
import { hashToken } from '../../ground/core/security/token.ts'
import type { Header } from '../../ground/http/caller.ts'
import type { RouteReply } from '../../ground/http/reply.ts'
import type { SignIn } from './authenticate.ts'
import { loadSignIn, selectWorkspace } from './authenticate.ts'
import type { People } from './people.ts'

export const showMe = (signIn: SignIn, header: Header): Me => ({
  user: {
    id: signIn.person.id,
    type: 'user',
    email: signIn.person.email,
    name: signIn.person.name,
  },
  workspaces: signIn.workspaces,
  active_workspace_id: selectWorkspace(signIn, header)?.id ?? null,
})

export const signInEnded = () => unauthorized('the sign-in has ended: sign in again')

/** The answer to a new sign-in: the cookie, and the person. */
export async function signedInAnswer(
  { databases, cookie }: People,
  token: string,
  header: Header,
): Promise<RouteReply> {
  const signIn = await loadSignIn(databases, hashToken(token))
  if (!signIn) throw signInEnded()
  return {
    reply: 'json',
    status: 200,
    body: showMe(signIn, header),
    headers: { 'set-cookie': cookie.set(token), 'cache-control': 'no-store' },
  }
}
