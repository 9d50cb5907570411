import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:http'
import { after, before, describe } from 'node:test'
import { systemClock } from '@steward/base/time.ts'
import { mailServer } from '../mail-server.ts'
import type { PersonClient } from '../people.ts'
import { invitationToken } from '../invitations.ts'
import { accept, firstLink, password } from '../people.ts'
import type { TestService } from '../service.ts'
import { adminKey, boot, scenarioDatabases } from '../service.ts'
import { unfinishedPost } from '../unfinished-request.ts'
import { until } from '../until.ts'
import { verifies } from '../verifies.ts'

type SentInvitation = { id: string; url: string; role: string; accepted_by: string | null }
type Members = { data: { id: string; email: string; role: string }[] }

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`members on ${database}`, () => {
    let service: TestService
    let owner: PersonClient
    let ahead = 0
    before(async () => {
      const clock = { ...systemClock, now: () => Date.now() + ahead }
      service = await boot(database, { overrides: { clock } })
      owner = await accept(service, firstLink(service), { email: 'ada@example.com' })
    })
    after(() => service.close())

    const invite = (by: PersonClient, body: object) =>
      by.ask<SentInvitation>('POST', '/v1/ext/invitations', body)
    const tokenOf = ({ url }: SentInvitation) => invitationToken(url)
    const idOf = async (person: PersonClient) =>
      (await person.ask<{ user: { id: string } }>('GET', '/v1/ext/me')).body.user.id

    const join = async (email: string, role: string): Promise<PersonClient> =>
      accept(service, tokenOf((await invite(owner, { email, role })).body))

    verifies(
      ['invitations/create', 'invitations/list', 'invitations/delete', 'invitations/once'],
      'an invitation opens once, for its address alone, until it is withdrawn',
      async () => {
        const { body: made } = await invite(owner, { email: 'bea@example.com', role: 'member' })
        const other = { token: tokenOf(made), email: 'eve@example.com', name: 'Eve', password }
        const path = '/v1/ext/auth/invitation'
        assert.equal((await owner.ask('POST', path, other)).status, 403)
        const wrong = await service.ask('POST', path, other, { 'x-api-key': '' })
        assert.match(JSON.stringify([wrong.status, wrong.body]), /^\[400,.*"email: /)
        const bea = await accept(service, tokenOf(made))
        const me = await bea.ask<{ user: { email: string } }>('GET', '/v1/ext/me')
        assert.equal(me.body.user.email, 'bea@example.com')
        const again = await service.ask('POST', path, other, { 'x-api-key': '' })
        assert.equal(again.status, 409)

        const { body: withdrawn } = await invite(owner, { role: 'member' })
        const listed = await owner.ask<{ data: SentInvitation[] }>('GET', '/v1/ext/invitations')
        assert.ok(!JSON.stringify(listed.body).includes(tokenOf(withdrawn)))
        assert.equal(
          listed.body.data.find(({ id }) => id === made.id)?.accepted_by,
          await idOf(bea),
        )
        const one = `/v1/ext/invitations/${withdrawn.id}`
        assert.equal((await owner.ask('DELETE', one)).status, 200)
        const late = { ...other, token: tokenOf(withdrawn) }
        assert.equal((await service.ask('POST', path, late, { 'x-api-key': '' })).status, 409)

        const { body: known } = await invite(owner, { role: 'member' })
        const taken = { ...other, token: tokenOf(known), email: 'bea@example.com' }
        assert.equal((await service.ask('POST', path, taken, { 'x-api-key': '' })).status, 409)
      },
    )

    verifies(
      'invitations/once',
      'an invitation is valid for seven days and no longer',
      async () => {
        const { body: first } = await invite(owner, { role: 'viewer' })
        const { body: second } = await invite(owner, { role: 'viewer' })
        const week = 7 * 24 * 60 * 60_000
        ahead += week - 60_000
        await accept(service, tokenOf(first), { email: 'fay@example.com' })
        ahead += 60_000
        const late = { token: tokenOf(second), email: 'gus@example.com', name: 'Gus', password }
        const answer = await service.ask('POST', '/v1/ext/auth/invitation', late, {
          'x-api-key': '',
        })
        const page = await service.raw('GET', `/signin/invitation/${tokenOf(second)}`)
        ahead -= week
        assert.equal(answer.status, 409)
        assert.doesNotMatch(await page.text(), /name="password"/)
      },
    )

    verifies(
      'invitations/once',
      'only one of ten people who open a link at once becomes a member',
      async () => {
        const { body: made } = await invite(owner, { role: 'viewer' })
        const answers = await Promise.all(
          Array.from({ length: 10 }, (_, n) => {
            const body = { token: tokenOf(made), email: `r${n}@example.com`, name: 'R', password }
            return service.ask('POST', '/v1/ext/auth/invitation', body, { 'x-api-key': '' })
          }),
        )
        assert.equal(answers.filter(({ status }) => status === 200).length, 1)
        assert.equal(answers.filter(({ status }) => status === 409).length, 9)
      },
    )

    verifies(
      ['members/list', 'members/role', 'members/owners'],
      'admins change roles, but only owners make and unmake owners, and one stays',
      async () => {
        const [admin, member] = [
          await join('cy@example.com', 'admin'),
          await join('di@example.com', 'member'),
        ]
        const [adminId, memberId, ownerId] = [
          await idOf(admin),
          await idOf(member),
          await idOf(owner),
        ]
        const set = (by: PersonClient, id: string, role: string) =>
          by.ask('POST', `/v1/ext/members/${id}`, { role })
        assert.equal((await set(admin, memberId, 'viewer')).status, 200)
        const { body } = await member.ask<Members>('GET', '/v1/ext/members')
        assert.equal(body.data.find(({ id }) => id === memberId)?.role, 'viewer')
        assert.equal((await member.ask('POST', '/v1/agents', { name: 'x' })).status, 403)
        assert.equal((await set(admin, memberId, 'owner')).status, 403)
        assert.equal((await set(admin, ownerId, 'member')).status, 409)
        assert.equal((await invite(admin, { role: 'owner' })).status, 403)
        assert.equal((await set(owner, ownerId, 'member')).status, 409)
        assert.equal((await set(owner, adminId, 'owner')).status, 200)
        const leaves = await Promise.all([
          set(owner, ownerId, 'admin'),
          set(admin, adminId, 'admin'),
        ])
        const statuses = leaves.map(({ status }) => status)
        assert.deepEqual(new Set(statuses), new Set([200, 409]))
        const [stays, left] = statuses[0] === 409 ? [owner, adminId] : [admin, ownerId]
        assert.equal((await set(stays, left, 'owner')).status, 200)
      },
    )

    verifies('invitations/of-removed', 'nobody comes back by a link of their own', async () => {
      const admin = await join('gil@example.com', 'admin')
      const path = `/v1/ext/members/${await idOf(admin)}`
      const accepted = async ({ body }: { body: SentInvitation }) => {
        const given = { token: tokenOf(body) }
        return (await admin.ask('POST', '/v1/ext/auth/invitation', given)).status
      }
      const before = await invite(admin, { role: 'admin' })
      assert.equal((await owner.ask('POST', path, { role: 'viewer' })).status, 200)
      assert.equal(await accepted(before), 409)
      assert.equal((await owner.ask('POST', path, { role: 'admin' })).status, 200)
      const [last, ofOwner] = [
        await invite(admin, { role: 'admin' }),
        await invite(owner, { role: 'viewer' }),
      ]
      assert.equal((await owner.ask('DELETE', path)).status, 200)
      assert.equal(await accepted(last), 409)
      assert.equal(await accepted(ofOwner), 200)
    })

    verifies(
      ['members/remove/keys', 'invitations/of-removed'],
      'a key that a person makes while being removed opens nothing, in whichever order both come',
      async () => {
        for (const turn of [1, 2, 3]) {
          const admin = await join(`racer-${turn}@example.com`, 'admin')
          const id = await idOf(admin)
          const make = () => [newKey(admin), invite(admin, { role: 'admin' })]
          const remove = () => owner.ask('DELETE', `/v1/ext/members/${id}?revoke_keys=true`)
          const before = Array.from({ length: 3 }, make).flat()
          const removed = remove()
          await Promise.all([...before, ...Array.from({ length: 2 }, make).flat(), removed])
          assert.equal((await removed).status, 200)
          type MemberRows = { data: { created_by?: string; invited_by?: string }[] }
          for (const list of ['/v1/ext/api_keys?limit=100', '/v1/ext/invitations?limit=100']) {
            const { data } = (await service.ask<MemberRows>('GET', list)).body
            const left = data.filter((row) => [row.created_by, row.invited_by].includes(id))
            assert.deepEqual(left, [], list)
          }
        }
      },
    )

    verifies(
      'auth/body-unfinished',
      'a removed person or a revoked key ends no request that was begun before',
      async () => {
        const admin = await join('hal@example.com', 'admin')
        const ofAdmin = { name: 'k', admin: true }
        const made = await service.ask<OwnKey>('POST', '/v1/ext/api_keys', ofAdmin)
        const begin = (path: string, body: object | string, headers: Record<string, string>) =>
          unfinishedPost(service.base + path, body, headers)
        const byCookie = { cookie: admin.cookie, origin: service.base }
        const byKey = { 'x-api-key': made.body.key }
        const begun = [
          begin('/v1/ext/invitations', { role: 'admin' }, byCookie),
          begin('/v1/ext/api_keys', { name: 'late' }, byCookie),
          begin('/v1/ext/api_keys', { name: 'late', admin: true }, byKey),
        ]
        const type = 'multipart/form-data; boundary=b'
        const file = '--b\r\ncontent-disposition: form-data; name="file"; filename="late"\r\n\r\n'
        const upload = begin('/v1/files', `${file}${'x'.repeat(1_000)}\r\n--b--\r\n`, {
          ...byKey,
          'content-type': type,
        })
        // Requests are authenticated in the order of their heads, so these two come after the requests above.
        assert.equal((await admin.ask('GET', '/v1/agents')).status, 200)
        assert.equal(await statusBy(made.body), 200)
        const path = `/v1/ext/members/${await idOf(admin)}`
        const removed = await owner.ask('DELETE', `${path}?revoke_keys=true`)
        assert.equal(removed.status, 200)
        await service.ask('DELETE', `/v1/ext/api_keys/${made.body.id}`)
        ahead += 100
        const answers: number[] = []
        for (const each of begun) answers.push((await each.finish()).status)
        assert.deepEqual(answers, [403, 403, 401])
        assert.equal((await upload.finish()).status, 400)
        for (const list of ['/v1/ext/api_keys', '/v1/files'])
          assert.ok(!JSON.stringify((await service.ask('GET', list)).body).includes('late'))
      },
    )

    type Departure = { id: string; type: string; keys: { id: string }[]; revoked: boolean }
    type OwnKey = { id: string; key: string }
    const newKey = async (person: PersonClient) =>
      (await person.ask<OwnKey>('POST', '/v1/ext/api_keys', { name: 'of a program' })).body
    const statusBy = async ({ key }: OwnKey) =>
      (await service.ask('GET', '/v1/agents', undefined, { 'x-api-key': key })).status

    verifies(
      ['members/remove', 'members/leave', 'members/things-stay', 'auth/cookie/checked-live'],
      "a removed person reads nothing from then on, and the person's resources stay",
      async () => {
        const [member, other] = [
          await join('em@example.com', 'member'),
          await join('fi@example.com', 'member'),
        ]
        const agent = await member.ask<{ id: string }>('POST', '/v1/agents', {
          name: 'a',
          model: 'offline',
          tools: [],
        })
        assert.equal(agent.status, 200)
        const path = `/v1/ext/members/${await idOf(member)}`
        assert.equal((await other.ask('DELETE', path)).status, 403)
        assert.equal((await owner.ask('DELETE', path)).status, 200)
        const refused = await member.ask<{ error: { message: string } }>('GET', '/v1/agents')
        assert.equal(refused.status, 403)
        assert.match(refused.body.error.message, /not a member of any workspace/)
        assert.equal((await owner.ask('GET', `/v1/agents/${agent.body.id}`)).status, 200)
        const key = await newKey(other)
        const left = await other.ask<Departure>('POST', '/v1/ext/auth/leave?revoke_keys=true')
        assert.equal(left.status, 200)
        assert.deepEqual(
          left.body.keys.map(({ id }) => id),
          [key.id],
        )
        assert.equal(left.body.revoked, true)
        assert.equal(await statusBy(key), 401)
        assert.equal((await other.ask('GET', '/v1/agents')).status, 403)
      },
    )

    verifies(
      'members/remove/keys',
      'a removal lists the keys that the person has made, and revokes them where it is asked to',
      async () => {
        for (const revokes of [false, true]) {
          const person = await join(`keys-${revokes}@example.com`, 'member')
          const id = await idOf(person)
          const made = await newKey(person)
          const query = revokes ? '?revoke_keys=true' : ''
          const { body } = await owner.ask<Departure>('DELETE', `/v1/ext/members/${id}${query}`)
          assert.deepEqual([body.id, body.type, body.revoked], [id, 'member_deleted', revokes])
          assert.deepEqual(
            body.keys.map((key) => key.id),
            [made.id],
          )
          assert.equal(await statusBy(made), revokes ? 401 : 200)
        }
      },
    )

    verifies(
      'members/role/keys',
      'a smaller role lists the keys that the person has made, and revokes them where it is asked to; a larger one does neither',
      async () => {
        const person = await join('smaller@example.com', 'admin')
        const path = `/v1/ext/members/${await idOf(person)}`
        const made = await newKey(person)
        const set = async (role: string, query = '') => {
          const { status, body } = await owner.ask<Departure>('POST', path + query, { role })
          return [status, body.revoked, body.keys?.map(({ id }) => id)]
        }
        assert.deepEqual(await set('member'), [200, false, [made.id]])
        assert.deepEqual(await set('member'), [200, false, []])
        assert.deepEqual(await set('admin'), [200, false, []])
        const refused = await set('owner', '?revoke_keys=true')
        assert.equal(refused[0], 400)
        assert.equal(await statusBy(made), 200)
        assert.deepEqual(await set('viewer', '?revoke_keys=true'), [200, true, [made.id]])
        assert.equal(await statusBy(made), 401)
      },
    )

    verifies(
      ['sign-in/delete', 'sign-in/delete/what-stays', 'sign-in/delete/last-owner'],
      'a person deletes the own account and what it made stays; the last owner of a workspace may not',
      async () => {
        const person = await join('gone@example.com', 'owner')
        const id = await idOf(person)
        const made = await newKey(person)
        const invited = await invite(person, { role: 'member' })
        const remove = (by: PersonClient, confirm: string, more = '') =>
          by.ask<Departure & { error: { message: string } }>(
            'DELETE',
            `/v1/ext/me?confirm=${encodeURIComponent(confirm)}${more}`,
          )
        assert.equal((await remove(person, 'ada@example.com')).status, 400)
        const deleted = await remove(person, 'Gone@example.com')
        assert.deepEqual([deleted.body.id, deleted.body.type], [id, 'person_deleted'])
        assert.deepEqual(
          deleted.body.keys.map((key) => key.id),
          [made.id],
        )
        assert.equal((await person.ask('GET', '/v1/ext/me')).status, 401)
        assert.equal(await statusBy(made), 200)
        const { data } = (await owner.ask<Members>('GET', '/v1/ext/members')).body
        assert.ok(!data.some((member) => member.id === id))
        const late = {
          token: tokenOf(invited.body),
          email: 'late@example.com',
          name: 'L',
          password,
        }
        const headers = { 'x-api-key': '' }
        const refused = await service.ask('POST', '/v1/ext/auth/invitation', late, headers)
        assert.equal(refused.status, 409)
        const rows = await service.database.read
          .selectFrom('sign_in_accounts')
          .selectAll()
          .execute()
        assert.ok(!rows.some((row) => row.person_id === id))
        const again = await join('gone@example.com', 'member')
        assert.notEqual(await idOf(again), id)
        await owner.ask('POST', '/v1/organizations/workspaces', { name: 'alone' })
        const last = await remove(owner, 'ada@example.com')
        assert.equal(last.status, 409)
        assert.match(last.body.error.message, /last owner of .*alone \(wrkspc_\w+\): make another/)
      },
    )
  })
}

verifies(
  'invitations/proof',
  'the link of the answer proves no address, and that of the letter does',
  async () => {
    await using mail = await mailServer()
    const service = await boot('sqlite', { env: { SMTP_URL: mail.url } })
    const nobody = { 'x-api-key': '' }
    const auth = (path: string, body: object) =>
      service.ask('POST', `/v1/ext/auth${path}`, body, nobody)
    const letter = async (to: string, form: RegExp) => {
      const found = () => mail.letters.find((each) => each.includes(to) && form.test(each)) ?? ''
      await until(() => found() !== '')
      return form.exec(found())?.[1] ?? ''
    }
    /** Signs up by the link, then signs in by a code. Returns the status of a sign-in with the first password. */
    async function opensAfterCode(email: string, linkOf: (url: string) => Promise<string>) {
      const invited = { email, role: 'member' }
      const { body } = await service.ask<SentInvitation>('POST', '/v1/ext/invitations', invited)
      await accept(service, invitationToken(await linkOf(body.url)))
      await auth('/code', { email })
      const code = await letter(email, /Your code is (\d{6})/)
      assert.equal((await auth('/sign_in/code', { email, code })).status, 200)
      return (await auth('/sign_in', { email, password })).status
    }
    try {
      await accept(service, firstLink(service), { email: 'ada@example.com' })
      const [bea, cy] = ['bea@example.com', 'cy@example.com']
      assert.equal(await opensAfterCode(bea, async (url) => url), 401)
      const sent = await opensAfterCode(cy, () => letter(cy, /(\S+\/signin\/invitation#\S+)/))
      assert.equal(sent, 200)
      // The inviter chooses the host of the request. The link in the letter leads to this server anyway.
      const headers = { host: 'foreign.example', 'x-api-key': adminKey }
      const asked = request(`${service.base}/v1/ext/invitations`, { method: 'POST', headers })
      asked.end(JSON.stringify({ email: 'di@example.com', role: 'member' }))
      const [{ statusCode }] = (await once(asked, 'response')) as [IncomingMessage]
      assert.equal(statusCode, 200)
      const link = await letter('di@example.com', /(\S+\/signin\/invitation#\S+)/)
      assert.doesNotMatch(link, /foreign/)
    } finally {
      await service.close()
    }
  },
)
