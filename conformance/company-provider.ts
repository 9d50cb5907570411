/** An identity provider of a company for tests: people sign in there, and it says their groups. */
import assert from 'node:assert/strict'
import type { MutableResponse, MutableToken } from 'oauth2-mock-server'
import { Events, OAuth2Server } from 'oauth2-mock-server'
import { cookieOf } from './people.ts'
import type { TestService } from './service.ts'

export type CompanyProfile = {
  sub: string
  email: string
  email_verified?: boolean
  name: string
  groups: string[]
}

export async function startCompanyProvider(first: CompanyProfile) {
  const server = new OAuth2Server()
  await server.issuer.keys.generate('RS256')
  await server.start(0, '127.0.0.1')
  const state = {
    profile: first,
    /** The statuses with which the provider refuses what it is asked. */
    refusals: {} as { token?: number; userinfo?: number },
    /** The tokens that it has given. */
    issued: [] as string[],
  }
  const { service: at } = server
  at.on(Events.BeforeTokenSigning, ({ payload }: MutableToken) => {
    payload['sub'] = state.profile.sub
  })
  at.on(Events.BeforeResponse, (answer: MutableResponse) => {
    const { access_token, refresh_token } = answer.body as Record<string, string | undefined>
    state.issued.push(...[access_token, refresh_token].filter((each) => each !== undefined))
    if (state.refusals.token === undefined) return
    answer.statusCode = state.refusals.token
    answer.body = { error: 'invalid_grant' }
  })
  at.on(Events.BeforeUserinfo, (answer: MutableResponse) => {
    answer.body = state.profile
    if (state.refusals.userinfo !== undefined) answer.statusCode = state.refusals.userinfo
  })
  const { url: issuer } = server.issuer
  assert.ok(issuer)
  return {
    issuer,
    state,
    settings: {
      ...{ issuer, name: 'Acme', sign_in: true },
      ...{ client_id: 'steward', client_secret: 'a secret of the company' },
    },

    /** Goes from the service to the provider and back, as a browser does. */
    async signIn({ base }: Pick<TestService, 'base'>, provider: string): Promise<Response> {
      const get = (path: string, cookie = '') =>
        fetch(base + path, { redirect: 'manual', headers: { cookie } })
      const started = await get(`/v1/ext/oauth/${provider}/authorize`)
      assert.equal(started.status, 302, await started.text())
      const back = await fetch(started.headers.get('location') ?? '', { redirect: 'manual' })
      const callback = new URL(back.headers.get('location') ?? '')
      return get(callback.pathname + callback.search, cookieOf(started.headers))
    },

    [Symbol.asyncDispose]: () => server.stop(),
  }
}

export type CompanyProviderStub = Awaited<ReturnType<typeof startCompanyProvider>>
