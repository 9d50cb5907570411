import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type { PersonClient } from '../people.ts'
import { invitationToken } from '../invitations.ts'
import { accept, firstLink, password } from '../people.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { unfinishedPost } from '../unfinished-request.ts'
import { until } from '../until.ts'
import { verifies } from '../verifies.ts'

type ListedWorkspace = { id: string; name: string; archived_at: string | null }
type ListedKey = { id: string; key: string; created_by: string | null; last_used_at: string | null }
type OrganizationRefusal = { error: { message: string; details?: { error_code: string } } }

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`the organisation on ${database}`, () => {
    let service: TestService
    let owner: PersonClient
    let first: string
    const path = '/v1/organizations/workspaces'
    before(async () => {
      service = await boot(database)
      owner = await accept(service, firstLink(service), { email: 'ada@example.com' })
      const me = await service.ask<{ active_workspace_id: string }>('GET', '/v1/ext/me')
      first = me.body.active_workspace_id
    })
    after(() => service.close())

    const at = (id: string) => ({ 'anthropic-workspace-id': id })
    const create = (by: PersonClient, name: string) =>
      by.ask<ListedWorkspace>('POST', path, { name })

    verifies(
      [
        'organization/me',
        'organization/workspaces/create',
        'organization/workspaces/list',
        'organization/workspaces/get',
        'organization/workspaces/rename',
      ],
      'the first owner makes workspaces, and everybody sees only their own',
      async () => {
        const me = await service.ask('GET', '/v1/organizations/me')
        assert.equal(me.body.id, first)
        const { body: made } = await create(owner, 'second')
        assert.equal(made.name, 'second')
        const list = async (by: Pick<PersonClient, 'ask'>) =>
          (await by.ask<{ data: ListedWorkspace[] }>('GET', path)).body.data.map(({ id }) => id)
        assert.deepEqual(await list(owner), [first, made.id])
        assert.deepEqual(await list(service), [first])
        assert.equal((await service.ask('GET', `${path}/${made.id}`)).status, 404)

        const invited = { role: 'member' }
        const link = await owner.ask<{ url: string }>(
          'POST',
          '/v1/ext/invitations',
          invited,
          at(made.id),
        )
        const token = invitationToken(link.body.url)
        const member = await accept(service, token, { email: 'bea@example.com' })
        assert.deepEqual(await list(member), [made.id])
        assert.equal((await create(member, 'third')).status, 403)
        const rename = (by: Pick<PersonClient, 'ask'>, id: string) =>
          by.ask<ListedWorkspace>('POST', `${path}/${id}`, { name: 'renamed' })
        assert.equal((await rename(member, made.id)).status, 403)
        assert.equal((await rename(member, first)).status, 404)
        assert.equal((await rename(owner, made.id)).body.name, 'renamed')
        assert.equal((await rename(service, first)).body.name, 'renamed')
      },
    )

    verifies(
      ['organization/workspaces/archive', 'organization/workspaces/archived'],
      'an archived workspace is reached by no key and no member',
      async () => {
        const { body: made } = await create(owner, 'to be archived')
        const key = await owner.ask<ListedKey>(
          'POST',
          '/v1/ext/api_keys',
          { name: 'k' },
          at(made.id),
        )
        const byKey = { 'x-api-key': key.body.key }
        assert.equal((await service.ask('GET', '/v1/agents', undefined, byKey)).status, 200)
        const archive = () => owner.ask('POST', `${path}/${made.id}/archive`)
        assert.equal((await archive()).status, 200)
        assert.equal((await archive()).status, 409)
        assert.equal((await service.ask('GET', '/v1/agents', undefined, byKey)).status, 401)
        const refused = await owner.ask<OrganizationRefusal>(
          'GET',
          '/v1/agents',
          undefined,
          at(made.id),
        )
        assert.equal(refused.status, 403)
        assert.equal(refused.body.error.details?.error_code, 'workspace_archived')
        const all = await owner.ask<{ data: ListedWorkspace[] }>(
          'GET',
          `${path}?include_archived=true`,
        )
        assert.ok(all.body.data.some(({ id, archived_at }) => id === made.id && archived_at))
        const open = await owner.ask<{ data: ListedWorkspace[] }>('GET', path)
        assert.ok(!open.body.data.some(({ id }) => id === made.id))
      },
    )

    verifies(
      'organization/workspaces/archived',
      'a key that is asked for before the workspace is archived is not made after that',
      async () => {
        const { body: made } = await create(owner, 'to be archived soon')
        const byCookie = { cookie: owner.cookie, origin: service.base, ...at(made.id) }
        const url = `${service.base}/v1/ext/api_keys`
        const begun = unfinishedPost(url, { name: 'late' }, byCookie)
        // Requests are authenticated in the order of their heads.
        assert.equal((await owner.ask('GET', path)).status, 200)
        assert.equal((await owner.ask('POST', `${path}/${made.id}/archive`)).status, 200)
        const refused = await begun.finish()
        assert.equal(refused.status, 403)
        assert.match(refused.body, /workspace_archived/)
      },
    )

    verifies(
      'invitations/archived',
      'a link of a workspace that was archived opens nothing',
      async () => {
        const { body: made } = await create(owner, 'to be left')
        const role = { role: 'member' }
        const { body } = await owner.ask<{ url: string }>(
          'POST',
          '/v1/ext/invitations',
          role,
          at(made.id),
        )
        assert.equal((await owner.ask('POST', `${path}/${made.id}/archive`)).status, 200)
        const token = invitationToken(body.url)
        const late = { token, email: 'late@example.com', name: 'Late', password }
        const headers = { 'x-api-key': '' }
        const answer = await service.ask('POST', '/v1/ext/auth/invitation', late, headers)
        assert.equal(answer.status, 409)
      },
    )

    verifies(
      ['organization/api-keys/list', 'organization/api-keys/get', 'organization/api-keys/update'],
      'keys are listed by pages, renamed and deactivated',
      async () => {
        type OrganizationPage = {
          data: { id: string; status: string }[]
          has_more: boolean
          last_id: string
        }
        const { body: made } = await service.ask<ListedKey>('POST', '/v1/ext/api_keys', {
          name: 'one',
        })
        const all = '/v1/organizations/api_keys'
        const { body: page } = await service.ask<OrganizationPage>('GET', `${all}?limit=1`)
        assert.deepEqual([page.data[0]?.id, page.has_more], [made.id, true])
        const { body: next } = await service.ask<OrganizationPage>(
          'GET',
          `${all}?after_id=${page.last_id}`,
        )
        assert.ok(next.data.length > 0 && next.data.every(({ id }) => id < made.id))
        assert.equal((await service.ask('GET', `${all}?after_id=nothing`)).status, 400)
        const one = `${all}/${made.id}`
        const change = { name: 'renamed', status: 'inactive' }
        const { body: changed } = await service.ask('POST', one, change)
        assert.deepEqual([changed['name'], changed['status']], ['renamed', 'inactive'])
        assert.equal((await service.ask('GET', one)).body['status'], 'inactive')
        const asKey = { 'x-api-key': made.key }
        assert.equal((await service.ask('GET', '/v1/agents', undefined, asKey)).status, 401)
        const opens = async () =>
          (await service.ask('GET', '/v1/agents', undefined, asKey)).status === 200
        const set = async (status: string) => (await service.ask('POST', one, { status })).status
        assert.equal(await set('active'), 200)
        await until(opens)
        assert.equal(await set('archived'), 200)
        await until(async () => !(await opens()))
        assert.equal((await service.ask('GET', one)).body['status'], 'archived')
        assert.equal(await set('active'), 409)
        assert.equal(await set('lost'), 400)
      },
    )

    verifies(
      [
        'organization/api-keys/list',
        'organization/api-keys/narrowed',
        'organization/workspaces/list',
      ],
      'the official client lists keys by state and maker, and workspaces by ids',
      async () => {
        const { apiKeys, workspaces } = service.client.beta.organization
        const name = 'narrowed'
        const made: string[] = []
        for (let n = 0; n < 3; n++)
          made.push((await service.ask('POST', '/v1/ext/api_keys', { name })).body.id)
        const [gone = '', lapsed = '', valid = ''] = made
        await service.ask('DELETE', `/v1/ext/api_keys/${gone}`)
        await service.database.write((tx) =>
          tx
            .updateTable('api_keys')
            .set({ expires_at: '2020-01-01T00:00:00Z' })
            .where('id', '=', lapsed)
            .execute(),
        )
        const listed = async (query: Parameters<typeof apiKeys.list>[0]) => {
          const found: string[] = []
          for await (const key of apiKeys.list({ limit: 1, ...query })) {
            assert.equal(key.principal, null)
            if (made.includes(key.id)) found.push(key.id)
          }
          return found
        }
        assert.deepEqual(await listed({}), [valid, lapsed, gone])
        assert.deepEqual(await listed({ status: 'active' }), [valid])
        assert.deepEqual(await listed({ status: 'expired' }), [lapsed])
        assert.deepEqual(await listed({ status: 'inactive' }), [])
        assert.deepEqual(await listed({ status: 'archived' }), [gone])
        assert.deepEqual(await listed({ status: null }), [valid, lapsed, gone])
        assert.deepEqual(await listed({ created_by_user_id: 'user_nobody' }), [])
        const { body: hers } = await owner.ask<ListedKey>(
          'POST',
          '/v1/ext/api_keys',
          { name },
          at(first),
        )
        made.push(hers.id)
        assert.deepEqual(await listed({ created_by_user_id: hers.created_by }), [hers.id])
        made.pop()
        const [own] = (await workspaces.list({ limit: 1 })).data
        assert.ok(own)
        assert.deepEqual(await listed({ workspace_id: own.id }), [valid, lapsed, gone])
        assert.deepEqual(await listed({ workspace_id: 'wrkspc_another' }), [])
        const named = async (...ids: string[]) =>
          (await workspaces.list({ ids })).data.map(({ id }) => id)
        assert.deepEqual(await named(own.id, 'wrkspc_another'), [own.id])
        assert.deepEqual(await named('wrkspc_another'), [])
      },
    )

    verifies(
      ['organization/lists', 'organization/api-keys/list', 'organization/workspaces/list'],
      'the official client goes through both lists forwards and backwards',
      async () => {
        const { apiKeys } = service.client.beta.organization
        for (const name of ['a', 'b', 'c']) {
          assert.equal((await service.ask('POST', '/v1/ext/api_keys', { name })).status, 200)
          assert.equal((await create(owner, name)).status, 200)
        }
        type ListedPage = {
          data: { id: string }[]
          has_more: boolean
          first_id: string | null
          last_id: string | null
        }
        for (const [all, by] of [
          ['/v1/organizations/api_keys', service],
          [path, owner],
        ] as const) {
          const page = async (query: string) => {
            const { status, body } = await by.ask<ListedPage>('GET', `${all}?${query}`)
            assert.equal(status, 200, JSON.stringify(body))
            const ids = body.data.map(({ id }) => id)
            assert.deepEqual([body.first_id, body.last_id], [ids[0] ?? null, ids.at(-1) ?? null])
            return { ids, more: body.has_more }
          }
          const { ids } = await page('limit=1000')
          assert.ok(ids.length > 4)
          const [first = '', second = '', third = '', fourth = ''] = ids
          assert.deepEqual(await page('limit=2'), { ids: [first, second], more: true })
          const last = await page(`limit=2&after_id=${ids.at(-3)}`)
          assert.deepEqual(last, { ids: ids.slice(-2), more: false })
          const before = await page(`limit=2&before_id=${fourth}`)
          assert.deepEqual(before, { ids: [second, third], more: true })
          assert.deepEqual(await page(`limit=2&before_id=${third}`), {
            ids: [first, second],
            more: false,
          })
          assert.deepEqual(await page(`before_id=${first}`), { ids: [], more: false })
          for (const wrong of ['before_id=nothing', 'after_id=nothing', 'limit=0', 'limit=1001'])
            assert.equal((await by.ask('GET', `${all}?${wrong}`)).status, 400, wrong)
          const both = await by.ask('GET', `${all}?after_id=${first}&before_id=${third}`)
          assert.match(JSON.stringify([both.status, both.body]), /400.*before_id: /)
        }
        const backwards: string[] = []
        const keys = (await apiKeys.list({ limit: 1000 })).data.map(({ id }) => id)
        const before_id = keys.at(-1) ?? ''
        for await (const key of apiKeys.list({ limit: 1, before_id })) backwards.push(key.id)
        assert.deepEqual(backwards, keys.slice(0, -1).toReversed())
      },
    )

    verifies(
      'organization/workspaces/default',
      'no workspace is the default one, so that all are listed with it or without',
      async () => {
        const { workspaces } = service.client.beta.organization
        const listed = async (query: Parameters<typeof workspaces.list>[0]) =>
          (await workspaces.list(query)).data.map(({ id }) => id)
        for (const include_default of [true, false])
          assert.deepEqual(await listed({ include_default }), [first])
        const wrong = await service.ask('GET', `${path}?include_default=perhaps`)
        assert.match(JSON.stringify([wrong.status, wrong.body]), /400.*include_default: /)
      },
    )

    verifies(
      'organization/api-keys/made-by',
      'a key that a person has made names the person, and another names nobody',
      async () => {
        const { apiKeys } = service.client.beta.organization
        const make = async (by: Pick<PersonClient, 'ask'>) =>
          (await by.ask<ListedKey>('POST', '/v1/ext/api_keys', { name: 'made' }, at(first))).body
        const [hers, another] = [await make(owner), await make(service)]
        const maker = { id: hers.created_by, type: 'user' }
        assert.deepEqual((await apiKeys.retrieve(hers.id)).created_by, maker)
        assert.match(another.created_by ?? '', /^apikey_/)
        assert.equal((await apiKeys.retrieve(another.id)).created_by, null)
      },
    )

    verifies(
      ['api-keys/field/read-only', 'api-keys/field/made-and-used'],
      'a read-only key reads and changes nothing, and a key knows who made it',
      async () => {
        const make = (more: object) =>
          owner.ask<ListedKey>('POST', '/v1/ext/api_keys', { name: 'r', ...more }, at(first))
        assert.equal((await make({ read_only: true, admin: true })).status, 400)
        const { body: made } = await make({ read_only: true })
        assert.match(made.created_by ?? '', /^user_/)
        assert.equal(made.last_used_at, null)
        const as = { 'x-api-key': made.key }
        assert.equal((await service.ask('GET', '/v1/agents', undefined, as)).status, 200)
        await until(async () => {
          const { body } = await owner.ask<{ data: ListedKey[] }>(
            'GET',
            '/v1/ext/api_keys?limit=1000',
            undefined,
            at(first),
          )
          return body.data.some(({ id, last_used_at: used }) => id === made.id && used !== null)
        })
        const refused = await service.ask<OrganizationRefusal>(
          'POST',
          '/v1/agents',
          { name: 'a' },
          as,
        )
        assert.equal(refused.status, 403)
        assert.match(refused.body.error.message, /read-only/)
        const more = await service.ask('POST', '/v1/ext/api_keys', { name: 'more' }, as)
        assert.equal(more.status, 403)
      },
    )
  })
}
