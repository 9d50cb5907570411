/** The pages on which a person types the code of a device, and lets it log in. */
import { invalid } from '../../../ground/core/errors.ts'
import type { RouteReply } from '../../../ground/http/reply.ts'
import type { Route } from '../../../ground/http/route.ts'
import { section } from '../../../ground/http/section.ts'
import type { SignIn } from '../../people/authenticate.ts'
import type { People } from '../../people/people.ts'
import type { OAuthClients } from './clients.ts'
import { normalUserCode } from './device.ts'
import { lockMember, pageForms } from './page-forms.ts'
import type { OAuthPageState } from './pages.ts'
import { createOAuthPages } from './pages.ts'
import { oauthStore } from './store.ts'

const pages = section('OAuth', ['anyone'], '/oauth/device')

const longestTyped = 20

export function devicePages(people: People, clients: OAuthClients): Route[] {
  const { databases, clock, at } = people
  const { control } = databases
  const show = createOAuthPages(people)
  const { toSignIn, stateOf, post } = pageForms(people)

  async function decideDevice(signIn: SignIn, form: URLSearchParams): Promise<RouteReply> {
    const tenant = form.get('workspace_id') ?? ''
    const isAllowed = form.get('decision') !== 'deny'
    const decision = {
      status: isAllowed ? ('approved' as const) : ('denied' as const),
      person_id: signIn.person.id,
      tenant_id: isAllowed ? tenant : '',
    }
    const userCode = normalUserCode(form.get('user_code') ?? '')
    const isTaken = await control.write(async (tx) => {
      if (isAllowed) {
        await lockMember(tx, tenant, signIn.person.id)
      }
      return oauthStore(tx).decide(userCode, decision, clock.now())
    })
    if (!isTaken) throw unknownUserCode()
    return show.done(isAllowed)
  }

  const devicePath = (userCode: string) =>
    at('/oauth/device') + (userCode === '' ? '' : `?user_code=${encodeURIComponent(userCode)}`)

  return [
    pages.get(
      '',
      { summary: 'The page on which a person types a code', answer: 'bytes', isPage: true },
      async ({ header, search }) => {
        const userCode = (new URLSearchParams(search).get('user_code') ?? '').slice(0, longestTyped)
        if (!(await people.find(header))) return toSignIn(devicePath(userCode))
        return show.enterCode(stateOf(header), userCode)
      },
    ),
    pages.raw.post(
      '',
      { summary: 'Show what a typed code asks for', answer: 'bytes', isPage: true },
      async (call, raw) => {
        const form = await raw.form()
        const typed = (form.get('user_code') ?? '').slice(0, longestTyped)
        const userCode = normalUserCode(typed)
        const ask = async (signIn: SignIn) => {
          const row = await oauthStore(control.read).byUserCode(userCode, clock.now())
          const client = row && clients.find(row.client_id)?.name
          if (client === undefined) throw unknownUserCode()
          return show.device(stateOf(call.header), { client, userCode, signIn })
        }
        const again = (shown: OAuthPageState) => show.enterCode(shown, typed)
        return (await post(call, form, ask, again)) ?? toSignIn(devicePath(typed))
      },
    ),
    pages.raw.post(
      '/decision',
      { summary: 'Let a client on another device log in', answer: 'bytes', isPage: true },
      async (call, raw) => {
        const form = await raw.form()
        const decide = (signIn: SignIn) => decideDevice(signIn, form)
        const again = (shown: OAuthPageState) => show.enterCode(shown, '')
        return (await post(call, form, decide, again)) ?? toSignIn(devicePath(''))
      },
    ),
  ]
}

const unknownUserCode = () =>
  invalid('user_code: nobody waits for this code: it was mistyped, was used, or has expired')
