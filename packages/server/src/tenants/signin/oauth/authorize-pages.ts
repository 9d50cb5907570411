/** The page on which a person lets a client log in, and the page that shows a code to copy. */
import { minuteMs } from '@steward/base/settings/kinds.ts'
import { iso } from '@steward/base/time.ts'
import { newToken } from '../../../ground/core/security/token.ts'
import type { Header } from '../../../ground/http/caller.ts'
import type { RouteReply } from '../../../ground/http/reply.ts'
import type { Route } from '../../../ground/http/route.ts'
import { section } from '../../../ground/http/section.ts'
import type { SignIn } from '../../people/authenticate.ts'
import type { People } from '../../people/people.ts'
import { seeOther } from '../html.ts'
import type { AuthorizeRequest } from './authorize.ts'
import { clientAddress, readAuthorizeRequest } from './authorize.ts'
import type { OAuthClients } from './clients.ts'
import { isCodePage } from './clients.ts'
import { newRequestRow } from './exchange.ts'
import type { PageCall } from './page-forms.ts'
import { lockMember, pageForms } from './page-forms.ts'
import type { OAuthPageState } from './pages.ts'
import { createOAuthPages } from './pages.ts'
import { oauthStore } from './store.ts'

const pages = section('OAuth', ['anyone'], '/oauth')

/** A browser brings a code at once; a person copies it from the page. */
const codeMs = minuteMs
const copiedCodeMs = 5 * minuteMs

export function authorizePages(people: People, clients: OAuthClients): Route[] {
  const { databases, clock, at, origin } = people
  const { control } = databases
  const show = createOAuthPages(people)
  const { toSignIn, stateOf, post } = pageForms(people)
  const ownOf = (header: Header): string => origin.of(header) + at('')

  /** Calls `run` for a request that may go on. Anything else is a page, or told to the client. */
  async function asked(
    { header, search }: PageCall,
    run: (request: AuthorizeRequest, own: string) => Promise<RouteReply>,
  ): Promise<RouteReply> {
    const own = ownOf(header)
    const read = readAuthorizeRequest(new URLSearchParams(search), clients, own)
    if (read.is === 'unsafe') return show.failure(read.why)
    return read.is === 'refused' ? seeOther(read.redirect) : run(read.request, own)
  }

  /** Stores a code for the client. */
  async function approve(
    { client, redirectUri, challenge, scope }: AuthorizeRequest,
    { signIn, tenant, own }: { signIn: SignIn; tenant: string; own: string },
  ): Promise<string> {
    const code = newToken('code')
    const now = clock.now()
    const row = newRequestRow(code, {
      kind: 'code',
      status: 'approved',
      client_id: client.id,
      scope,
      challenge,
      redirect_uri: redirectUri,
      tenant_id: tenant,
      person_id: signIn.person.id,
      expires_at: iso(now + (isCodePage(redirectUri, own) ? copiedCodeMs : codeMs)),
      created_at: iso(now),
    })
    await control.write(async (tx) => {
      await lockMember(tx, tenant, signIn.person.id)
      await oauthStore(tx).addRequest(row)
    })
    return code
  }

  return [
    pages.get(
      '/authorize',
      { summary: 'The page on which a client asks to log in', answer: 'bytes', isPage: true },
      (call) =>
        asked(call, async (request, own) => {
          const { header, search } = call
          const signIn = await people.find(header)
          if (!signIn) return toSignIn(`${at('/oauth/authorize')}?${search}`)
          return show.consent(stateOf(header), request, { signIn, search, own })
        }),
    ),
    pages.raw.post(
      '/authorize',
      { summary: 'Let a client log in, or do not', answer: 'bytes', isPage: true },
      (call, raw) =>
        asked(call, async (request, own) => {
          const { header, search } = call
          const form = await raw.form()
          const { redirectUri, state } = request
          const path = `${at('/oauth/authorize')}?${search}`
          const signIn = await people.find(header)
          if (!signIn) return toSignIn(path)
          const decide = async () => {
            const tenant = form.get('workspace_id') ?? ''
            const isDenied = form.get('decision') === 'deny'
            const told: Record<string, string> = isDenied
              ? { error: 'access_denied', error_description: 'the person has said no' }
              : { code: await approve(request, { signIn, tenant, own }) }
            return seeOther(clientAddress(redirectUri, { ...told, state, iss: own }))
          }
          const again = (shown: OAuthPageState) =>
            show.consent(shown, request, { signIn, search, own })
          return (await post(call, form, decide, again)) ?? toSignIn(path)
        }),
    ),
    pages.get(
      '/code/callback',
      { summary: 'The page that shows a code to copy', answer: 'bytes', isPage: true },
      async ({ search }) => {
        const given = new URLSearchParams(search)
        const [code, state] = [given.get('code'), given.get('state')]
        if (code === null)
          return show.failure(given.get('error_description') ?? 'There is no code.')
        return show.code(state === null ? code : `${code}#${state}`)
      },
    ),
  ]
}
