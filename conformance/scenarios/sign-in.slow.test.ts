import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type { PersonClient } from '../people.ts'
import { accept, cookieOf, firstLink, password, personAt } from '../people.ts'
import { openStream } from '../reader.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { newSession } from '../turns.ts'
import { until } from '../until.ts'
import { verifies } from '../verifies.ts'

type SignedInPerson = {
  user: { id: string; email: string } | null
  workspaces: { id: string; role: string }[]
  active_workspace_id: string | null
  error?: { type: string; message: string; details?: { error_code: string } }
}

const email = 'ada@example.com'
const nobody = { 'x-api-key': '' }

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`sign-in on ${database}`, () => {
    let service: TestService
    let owner: PersonClient
    before(async () => {
      service = await boot(database)
      owner = await accept(service, firstLink(service), { email: 'Ada@Example.com' })
    })
    after(async () => {
      assert.ok(!service.logged.some((line) => line.includes(password)))
      await service.close()
    })

    const post = (path: string, body: object, headers: Record<string, string> = nobody) =>
      service.ask<SignedInPerson>('POST', `/v1/ext/auth${path}`, body, headers)

    async function signIn(secret = password): Promise<PersonClient> {
      const answer = await post('/sign_in', { email, password: secret })
      assert.equal(answer.status, 200, JSON.stringify(answer.body))
      return personAt(service, cookieOf(answer.headers))
    }

    const letters = (to: string) =>
      service.logged.filter((line) => line.includes('an email was not sent') && line.includes(to))

    /** Sends a request and returns the letter that it causes, which comes a moment after the answer. */
    async function letterOf(to: string, ask: () => Promise<unknown>): Promise<string> {
      const before = letters(to).length
      await ask()
      await until(() => letters(to).length > before)
      return letters(to).at(-1) ?? ''
    }

    async function requestCode(): Promise<string> {
      const letter = await letterOf(email, async () =>
        assert.equal((await post('/code', { email })).status, 200),
      )
      return /\b\d{6}\b/.exec(letter)?.[0] ?? ''
    }

    verifies(
      ['sign-in/first-owner', 'sign-in/invitation', 'sign-in/me'],
      'the link of the first start makes an owner, once',
      async () => {
        const me = await owner.ask<SignedInPerson>('GET', '/v1/ext/me')
        assert.equal(me.body.user?.email, email)
        assert.equal(me.body.workspaces[0]?.role, 'owner')
        assert.equal(me.body.active_workspace_id, me.body.workspaces[0]?.id)
        const key = await service.ask<SignedInPerson>('GET', '/v1/ext/me')
        assert.equal(key.body.user, null)
        assert.equal(key.body.active_workspace_id, me.body.active_workspace_id)
        const eve = { token: firstLink(service), email: 'eve@example.com', name: 'Eve', password }
        assert.equal((await post('/invitation', eve)).status, 409)
        assert.equal((await post('/sign_up/email', eve)).status, 404)
      },
    )

    verifies(
      ['sign-in/password', 'auth/cookie/issued', 'auth/kinds/cookie', 'sign-in/sign-out'],
      'a password signs in, and the cookie opens what a key opens until it is signed out',
      async () => {
        const signedIn = await post('/sign_in', { email, password })
        const [cookie = ''] = signedIn.headers.getSetCookie()
        assert.match(
          cookie,
          /^steward_session=\S+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=604800$/,
        )
        const person = personAt(service, cookieOf(signedIn.headers))
        assert.equal((await person.ask('GET', '/v1/agents')).status, 200)
        const out = await person.ask('POST', '/v1/ext/auth/sign_out')
        assert.equal(out.status, 204)
        assert.match(out.headers.getSetCookie().join(), /^steward_session=; .*Max-Age=0$/)
        assert.equal((await person.ask('GET', '/v1/agents')).status, 401)
      },
    )

    verifies('auth/cookie/hashed', 'the database holds no token of a cookie', async () => {
      const { cookie } = await signIn()
      const token = /steward_session=([^.]+)\./.exec(cookie)?.[1] ?? ''
      assert.ok(token.length >= 24)
      for (const { name } of await service.database.read.introspection.getTables()) {
        const rows = await service.database.read
          .selectFrom(name as 'settings')
          .selectAll()
          .execute()
        for (const secret of [token, password])
          assert.ok(!JSON.stringify(rows).includes(secret), name)
      }
      const forged = personAt(service, cookie.replace(/\.[^.]+$/, `.${'A'.repeat(43)}`))
      assert.equal((await forged.ask('GET', '/v1/agents')).status, 401)
    })

    verifies('auth/cookie/after-keys', 'a key counts before a cookie', async () => {
      const second = await service.otherWorkspace('second')
      const both = await owner.ask<SignedInPerson>('GET', '/v1/ext/me', undefined, {
        'x-api-key': second.key,
      })
      assert.equal(both.body.active_workspace_id, second.workspace)
      const wrong = { authorization: 'Bearer garbage' }
      assert.equal((await owner.ask('GET', '/v1/agents', undefined, wrong)).status, 401)
    })

    verifies('auth/cookie/no-upstreams', 'a cookie does not reach what others answer', async () => {
      const path = `/v1/ext/mcp-proxy/${await newSession(service)}/any`
      assert.equal((await owner.ask('GET', path)).status, 403)
      assert.equal((await owner.ask('POST', path, {})).status, 403)
    })

    verifies(
      ['auth/cookie/workspace', 'auth/cookie/workspace-default', 'sign-in/workspace'],
      'a person of several workspaces names one by a header, or chooses one',
      async () => {
        const [first, second] = [
          await service.otherWorkspace('a'),
          await service.otherWorkspace('b'),
        ]
        const alien = await service.otherWorkspace('c')
        const token = await service.invite(first.workspace, 'member')
        const person = await accept(service, token, { email: 'bea@example.com' })
        const join = { token: await service.invite(second.workspace, 'viewer') }
        assert.equal((await person.ask('POST', '/v1/ext/auth/invitation', join)).status, 200)
        const again = personAt(
          service,
          cookieOf((await post('/sign_in', { email: 'bea@example.com', password })).headers),
        )
        const unnamed = await again.ask<SignedInPerson>('GET', '/v1/agents')
        assert.equal(unnamed.status, 400)
        assert.match(unnamed.body.error?.message ?? '', /anthropic-workspace-id/)
        for (const name of ['anthropic-workspace-id', 'x-active-tenant']) {
          const at = (workspace: string) =>
            again.ask<SignedInPerson>('GET', '/v1/ext/me', undefined, { [name]: workspace })
          assert.equal((await at(second.workspace)).body.active_workspace_id, second.workspace)
          const refused = await at(alien.workspace)
          assert.equal(refused.status, 403)
          assert.equal(refused.body.error?.details?.error_code, 'not_a_member')
        }
        const two = {
          'anthropic-workspace-id': first.workspace,
          'x-active-tenant': second.workspace,
        }
        const named = await again.ask<SignedInPerson>('GET', '/v1/ext/me', undefined, two)
        assert.equal(named.status, 403)
        assert.match(named.body.error?.message ?? '', /two workspaces/)
        const choose = (workspace_id: string) =>
          again.ask<SignedInPerson>('POST', '/v1/ext/auth/workspace', { workspace_id })
        assert.equal((await choose(alien.workspace)).status, 403)
        assert.equal((await choose(second.workspace)).status, 200)
        assert.equal((await again.ask('GET', '/v1/agents')).status, 200)
        assert.equal((await again.ask('POST', '/v1/agents', { name: 'a' })).status, 403)
      },
    )

    verifies(
      ['sign-in/code/request', 'sign-in/code', 'sign-in/code/once', 'sign-in/mail/log'],
      'a code signs in once, whoever sends it at the same time, and has three tries',
      async () => {
        const code = await requestCode()
        const all = await Promise.all(
          Array.from({ length: 10 }, () => post('/sign_in/code', { email, code })),
        )
        const taken = all.filter(({ status }) => status === 200)
        assert.equal(taken.length, 1, JSON.stringify(all.map(({ status }) => status)))
        const [answer] = taken
        assert.ok(answer)
        const person = personAt(service, cookieOf(answer.headers))
        assert.equal((await person.ask('GET', '/v1/agents')).status, 200)

        const next = await requestCode()
        const wrong = next === '000000' ? '000001' : '000000'
        for (let tries = 0; tries < 3; tries++)
          assert.notEqual((await post('/sign_in/code', { email, code: wrong })).status, 200)
        const late = await post('/sign_in/code', { email, code: next })
        assert.notEqual(late.status, 200)
        assert.match(late.body.error?.message ?? '', /^code: .* ask for a new/)
      },
    )

    verifies(
      ['sign-in/enumeration', 'sign-in/silent'],
      'nobody learns which addresses are known',
      async () => {
        const stranger = 'nobody@example.com'
        const asked = async (path: string, body: object) => {
          const { status, body: answer } = await post(path, body)
          const { request_id: _, ...rest } = answer as SignedInPerson & { request_id?: string }
          return { status, rest }
        }
        for (const path of ['/code', '/reset'])
          assert.deepEqual(await asked(path, { email: stranger }), await asked(path, { email }))
        assert.deepEqual(
          await asked('/sign_in', { email: stranger, password }),
          await asked('/sign_in', { email, password: 'wrong password' }),
        )
        const code = '123456'
        assert.deepEqual(
          await asked('/sign_in/code', { email: stranger, code }),
          await asked('/sign_in/code', { email, code }),
        )
        assert.ok(!service.logged.some((line) => line.includes(stranger)))
      },
    )

    verifies(
      ['sign-in/reset/request', 'sign-in/reset'],
      'a link sets a new password once, and ends all sign-ins',
      async () => {
        const person = await signIn()
        const letter = await letterOf(email, () => post('/reset', { email }))
        const token = /signin\/reset\?token=(\w+)/.exec(letter)?.[1] ?? ''
        const new_password = 'another horse battery'
        const short = await post('/reset/confirm', { token, new_password: 'short' })
        assert.equal(short.status, 400)
        assert.equal((await post('/reset/confirm', { token, new_password })).status, 204)
        const again = await post('/reset/confirm', { token, new_password })
        assert.equal(again.status, 400)
        assert.match(again.body.error?.message ?? '', /^token: .* ask for a new link$/)
        assert.equal((await person.ask('GET', '/v1/agents')).status, 401)
        const old = await post('/sign_in', { email, password })
        assert.equal(old.status, 401)
        assert.equal(old.body.error?.message, 'the email or the password is wrong')
        owner = await signIn(new_password)
        const back = { current_password: new_password, new_password: password }
        assert.equal((await owner.ask('POST', '/v1/ext/auth/password', back)).status, 204)
      },
    )

    verifies(
      ['sign-in/password-change', 'sign-in/list', 'sign-in/end', 'auth/cookie/checked-live'],
      'a new password and the end of a sign-in hold from the next request on',
      async () => {
        const [here, there, third] = [await signIn(), await signIn(), await signIn()]
        type PersonList = { data: { id: string; current: boolean }[] }
        const { body: own } = await third.ask<PersonList>('GET', '/v1/ext/auth/sign_ins')
        const current = own.data.find((each) => each.current)
        const path = `/v1/ext/auth/sign_ins/${current?.id}`
        assert.equal((await here.ask('DELETE', path)).status, 200)
        assert.equal((await third.ask('GET', '/v1/agents')).status, 401)
        assert.equal((await here.ask('DELETE', path)).status, 404)
        const wrong = { current_password: 'wrong', new_password: 'yet another horse' }
        assert.equal((await here.ask('POST', '/v1/ext/auth/password', wrong)).status, 403)
        const right = { current_password: password, new_password: password }
        assert.equal((await here.ask('POST', '/v1/ext/auth/password', right)).status, 204)
        assert.equal((await there.ask('GET', '/v1/agents')).status, 401)
        assert.equal((await here.ask('GET', '/v1/agents')).status, 200)
        owner = here
      },
    )

    verifies(
      'auth/cookie/open-answers',
      'a stream ends with the sign-in of its reader',
      async () => {
        const person = await signIn()
        const session = await newSession(service)
        const path = `/v1/sessions/${session}/events/stream`
        await using reader = await openStream(service, path, {
          headers: { 'x-api-key': '', cookie: person.cookie },
        })
        await person.ask('POST', '/v1/ext/auth/sign_out')
        await reader.ended
      },
    )
  })
}
