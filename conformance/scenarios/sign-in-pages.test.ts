import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, describe } from 'node:test'
import { firstLink, password } from '../people.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { until } from '../until.ts'
import { verifies } from '../verifies.ts'

type SignInPage = { status: number; text: string; headers: Headers }

/** A browser without scripts: it keeps cookies, posts forms and follows where it is sent. */
function browser({ base }: Pick<TestService, 'base'>) {
  const cookies = new Map<string, string>()
  async function go(path: string, init: RequestInit = {}): Promise<SignInPage> {
    const cookie = [...cookies].map((pair) => pair.join('=')).join('; ')
    const headers = { ...(init.headers as Record<string, string>), cookie }
    const answer = await fetch(base + path, { ...init, headers, redirect: 'manual' })
    for (const set of answer.headers.getSetCookie()) {
      const [name = '', value = ''] = (set.split(';')[0] ?? '').split(/=(.*)/s)
      if (set.includes('Max-Age=0')) cookies.delete(name)
      else cookies.set(name, value)
    }
    const text = await answer.text()
    const to = answer.headers.get('location')
    return to === null ? { status: answer.status, text, headers: answer.headers } : go(to)
  }
  const tokenIn = ({ text }: SignInPage) =>
    /name="form_token" value="([^"]+)"/.exec(text)?.[1] ?? ''
  type Fields = Record<string, string>
  /** The request that posts the form of the page that leads to the path. */
  function posted(page: SignInPage, path: string, fields: Fields, origin = base): RequestInit {
    assert.ok(page.text.includes(`action="${path}"`), `no form leads to ${path}: ${page.text}`)
    const body = new URLSearchParams({ form_token: tokenIn(page), ...fields })
    return { method: 'POST', body, headers: { origin } }
  }
  return {
    go,
    cookies,
    tokenIn,
    submit: (page: SignInPage, path: string, fields: Fields, origin?: string) =>
      go(path, posted(page, path, fields, origin)),
    /** Posts the form, and returns where it leads. */
    leadsTo: async (page: SignInPage, path: string, fields: Fields): Promise<string | null> => {
      const { headers, ...init } = posted(page, path, fields)
      const cookie = [...cookies].map((pair) => pair.join('=')).join('; ')
      const sent = {
        ...init,
        headers: { ...(headers as Fields), cookie },
        redirect: 'manual',
      } as const
      return (await fetch(base + path, sent)).headers.get('location')
    },
  }
}

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`pages of sign-in on ${database}`, () => {
    let service: TestService
    before(async () => {
      service = await boot(database)
    })
    after(() => service.close())

    const email = 'ada@example.com'
    const letters = () => service.logged.filter((line) => line.includes('an email was not sent'))
    /** Waits for a letter that matches, and returns the last group of the match. */
    async function inLetter(part: RegExp): Promise<string> {
      await until(() => letters().some((line) => part.test(line)))
      return part.exec(letters().findLast((line) => part.test(line)) ?? '')?.at(-1) ?? ''
    }

    verifies(
      ['sign-in/pages', 'sign-in/pages/policy'],
      'a person comes in, signs out and in by password, code and link, without a script',
      async () => {
        const { go, submit, cookies } = browser(service)
        const given = { token: firstLink(service) }
        const path = '/signin/invitation/join'
        const link = await go('/signin/invitation')
        assert.match(link.headers.get('content-security-policy') ?? '', /script-src 'self'/)
        assert.match(link.text, /<script src="\/signin\/link\.js" defer>/)
        assert.match((await go('/signin/link.js')).text, /location\.hash/)
        const invited = await submit(link, '/signin/invitation', given)
        const policy = invited.headers.get('content-security-policy') ?? ''
        const style = /<style>(.*?)<\/style>/s.exec(invited.text)?.[1] ?? ''
        const hash = createHash('sha256').update(style).digest('base64')
        assert.ok(policy.includes(`style-src 'sha256-${hash}'`), policy)
        assert.match(policy, /default-src 'none'.*form-action 'self'.*frame-ancestors 'none'/)
        assert.ok(!invited.text.includes('<script'))
        assert.match(invited.text, /<header>Steward<\/header>/)
        assert.match(invited.text, /You join <strong>default<\/strong> as\s+owner/)
        const person = { ...given, email, name: '<b>Ada</b>', password }
        const short = await submit(invited, path, { ...person, password: 'short' })
        assert.equal(short.status, 400)
        assert.match(short.text, /role="alert"/)
        assert.ok(short.text.includes(`value="${email}"`), short.text)
        await submit(short, path, person)
        const home = await go('/signin')
        assert.match(home.text, /You are signed in[^]*href="\/console\/"/)
        assert.match(home.text, /&lt;b&gt;Ada&lt;\/b&gt;/)
        const used = await go(`/signin/invitation/${given.token}`)
        assert.equal(used.status, 404)
        assert.match(used.text, /<p>This link has been used or has ended; ask for a new one\.<\/p>/)

        const out = await submit(home, '/signin/out', {})
        assert.match(out.text, /<h1>Sign in<\/h1>/)
        assert.ok(!cookies.has('steward_session'))
        const wrong = await submit(out, '/signin', { email, password: 'wrong password' })
        assert.equal(wrong.status, 401)
        assert.ok(wrong.text.includes(`value="${email}"`), wrong.text)
        await submit(wrong, '/signin', { email, password })
        const again = await go('/signin')
        assert.match(again.text, /You are signed in/)
        await submit(again, '/signin/out', {})

        const asked = await submit(await go('/signin/code'), '/signin/code', { email })
        const code = await inLetter(/Your code is (\d{6})/)
        await submit(asked, '/signin/code/confirm', { email, code })
        const coded = await go('/signin')
        assert.match(coded.text, /You are signed in/)
        await submit(coded, '/signin/out', {})

        await submit(await go('/signin/reset'), '/signin/reset', { email })
        const token = await inLetter(/signin\/reset\?token=(\w+)/)
        const reset = await go(`/signin/reset?token=${token}`)
        const set = await submit(reset, '/signin/reset/confirm', { token, password: 'a new horse' })
        const opened = await go(`/signin/reset?token=${token}`)
        assert.equal(opened.status, 404)
        assert.match(opened.text, /This link has been used or is too old.*href="\/signin\/reset"/s)
        assert.equal((await go('/signin/reset?token=never')).status, 404)
        await submit(set, '/signin', { email, password: 'a new horse' })
        assert.match((await go('/signin')).text, /You are signed in/)
      },
    )

    verifies('console/root', 'a browser at / is sent to the console', async () => {
      const accept = 'text/html,application/xhtml+xml,*/*;q=0.8'
      const sent = await fetch(`${service.base}/`, { headers: { accept }, redirect: 'manual' })
      assert.equal(sent.headers.get('location'), '/console/')
      const answer = await fetch(`${service.base}/`, { headers: { accept: 'application/json' } })
      assert.equal(answer.status, 404)
      assert.match(await answer.text(), /there is no GET \//)
    })

    verifies(
      'sign-in/pages/leads-on',
      'a sign-in leads to the page that asked for it, and to no other site',
      async () => {
        const { go, leadsTo } = browser(service)
        const leads = async (to: string) => {
          const page = await go(`/signin?return_to=${encodeURIComponent(to)}`)
          const [, kept = ''] = /name="return_to" value="([^"]+)"/.exec(page.text) ?? []
          assert.equal(kept, to)
          const fields = { email, password: 'a new horse', return_to: to }
          return leadsTo(page, '/signin', fields)
        }
        assert.equal(await leads('/docs?of=openai'), '/docs?of=openai')
        for (const evil of ['https://evil.example/', '//evil.example', '/\\evil.example'])
          assert.equal(await leads(evil), '/console/')
      },
    )

    verifies(
      'sign-in/pages/forms',
      'a form of another page, or of another browser, changes nothing',
      async () => {
        const [mine, other] = [browser(service), browser(service)]
        const page = await mine.go('/signin')
        const fields = { email, password: 'a new horse' }
        for (const origin of ['https://evil.example', 'null'])
          assert.equal((await mine.submit(page, '/signin', fields, origin)).status, 403)
        const foreign = { ...fields, form_token: other.tokenIn(await other.go('/signin')) }
        assert.equal((await mine.submit(page, '/signin', foreign)).status, 403)
        assert.ok(!mine.cookies.has('steward_session'))
        await mine.submit(page, '/signin', fields)
        assert.ok(mine.cookies.has('steward_session'))
      },
    )

    verifies('sign-in/pages/workspaces', 'a person of two workspaces chooses one', async () => {
      const { go, submit } = browser(service)
      const page = await go('/signin')
      await submit(page, '/signin', { email, password: 'a new horse' })
      const { workspace } = await service.otherWorkspace('the second')
      const token = await service.invite(workspace, 'member')
      const invited = await submit(await go('/signin/invitation'), '/signin/invitation', { token })
      await submit(invited, '/signin/invitation/join', { token })
      const joined = await go('/signin')
      assert.match(joined.text, /<strong>the second<\/strong> \(member\) is chosen/)
      const first = /name="workspace_id" value="([^"]+)"/.exec(joined.text)?.[1] ?? ''
      const chosen = await submit(joined, '/signin/workspaces', { workspace_id: first })
      assert.match(chosen.text, /<strong>default<\/strong> \(owner\) is chosen/)
    })
  })
}
