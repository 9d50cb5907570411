/** Sign-in at an identity provider: the browser goes there and comes back with a code. */
import { z } from 'zod'
import { invalid, notFound } from '../../ground/core/errors.ts'
import { hashToken } from '../../ground/core/security/token.ts'
import type { RouteReply } from '../../ground/http/reply.ts'
import type { Route } from '../../ground/http/route.ts'
import { section } from '../../ground/http/section.ts'
import { signInEnded } from './answers.ts'
import { loadSignIn } from './authenticate.ts'
import type { People } from './people.ts'
import { readVisitor } from './people.ts'
import { peopleStore } from './store.ts'

const oauth = section('Sign-in', ['anyone'], '/v1/ext/oauth/:provider')

const AuthorizeQuery = z.object({
  return_to: z
    .string()
    .max(2_000)
    .optional()
    .describe('A path of this service, where the browser goes after the sign-in.'),
})

const redirect = (location: string, cookies: string[]): RouteReply => ({
  reply: 'empty',
  status: 302,
  headers: {
    location,
    'cache-control': 'no-store',
    ...(cookies[0] === undefined ? {} : { 'set-cookie': cookies[0] }),
  },
})

/** Attack: browsers read `\` as `/` and drop control characters, so both are refused in the path. */
export function isOwnPath(path: string, base: string): boolean {
  const isPath = path.startsWith('/') && !/[\\\p{Cc}]|^\/(?:\/|%2f|%5c)/iu.test(path)
  return isPath && URL.canParse(path, base) && new URL(path, base).origin === base
}

function pathOf(returnTo: string, base: string): string {
  if (!isOwnPath(returnTo, base))
    throw invalid('return_to: must be a path of this service, such as /docs')
  return returnTo
}

export function oauthRoutes(people: People): Route[] {
  const { providers, origin, cookie, databases, invited, groups, announce, at } = people

  function check(id: string): void {
    if (!providers.some((provider) => provider.id === id)) throw notFound('identity provider', id)
  }

  return [
    oauth.get(
      '/authorize',
      {
        summary: 'Sign in with an identity provider (SSO)',
        description: 'Redirects the browser to the provider.',
        query: AuthorizeQuery,
        answer: 'none',
        status: 302,
      },
      async ({ params, query, header, address }) => {
        check(params.provider)
        await people.admit('sign_in', address)
        const returnTo = pathOf(query.return_to ?? at('/signin'), origin.of(header))
        const started = await (await people.library()).startAt(params.provider, returnTo)
        return redirect(started.url, started.cookies)
      },
    ),
    oauth.get(
      '/callback',
      {
        summary: 'Come back from an identity provider',
        description: 'Sets the session cookie, and redirects the browser to `return_to`.',
        answer: 'none',
        status: 302,
      },
      async ({ params, search, header, address }) => {
        check(params.provider)
        await people.admit('sign_in', address)
        const { token, location, proof } = await (
          await people.library()
        ).finishAt(params.provider, {
          search,
          cookies: header('cookie') ?? '',
          visitor: readVisitor({ header, address }),
        })
        if (token === undefined) return redirect(location, [])
        const tokenHash = hashToken(token)
        const signIn = await loadSignIn(databases, tokenHash)
        if (!signIn) throw signInEnded()
        if (proof) await groups.begin(proof, { person: signIn.person.id, tokenHash })
        else
          await databases.control.write((tx) =>
            peopleStore(tx).noteProvider(tokenHash, params.provider),
          )
        if (signIn.workspaces.length === 0) await invited.join(signIn.person)
        announce()
        return redirect(location, [cookie.set(token)])
      },
    ),
  ]
}
