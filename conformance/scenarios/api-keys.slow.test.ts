import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { AuthenticationError, PermissionDeniedError } from '@anthropic-ai/sdk'
import Anthropic from '@anthropic-ai/sdk'
import type { LooseBody, TestService } from '../service.ts'
import { adminKey, boot, scenarioDatabases } from '../service.ts'
import { fresh, newSession, post } from '../turns.ts'
import { verifies } from '../verifies.ts'

type MadeKey = LooseBody & { key: string }

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`credentials on ${database}`, () => {
    let service: TestService
    before(async () => void (service = await boot(database)))
    after(() => service.close())
    const path = '/v1/ext/api_keys'
    const make = async (more: object = {}) =>
      (await service.ask<MadeKey>('POST', path, { name: 'a key', ...more })).body
    const statusWith = async (headers: Record<string, string>, url = '/v1/agents') =>
      (await fetch(service.base + url, { headers })).status
    const environment = async () =>
      (await service.client.beta.environments.create({ name: fresh('env') })).id

    verifies(
      ['auth/workspace-key/transport', 'auth/kinds/workspace', 'auth/unknown-prefix'],
      'a key is accepted as x-api-key and as Bearer',
      async () => {
        assert.equal(await statusWith({ 'x-api-key': adminKey }), 200)
        assert.equal(await statusWith({ authorization: `Bearer ${adminKey}` }), 200)
        assert.equal(await statusWith({ authorization: `bearer ${adminKey}` }), 200)
        const headers = { 'X-Api-Key': adminKey }
        const seed = new Anthropic({
          baseURL: service.base,
          apiKey: null,
          authToken: null,
          defaultHeaders: headers,
        })
        assert.ok(Array.isArray((await seed.beta.agents.list()).data))
      },
    )

    verifies('auth/workspace-key/both', 'of two headers the Bearer value counts', async () => {
      const good = { 'x-api-key': 'wrong', authorization: `Bearer ${adminKey}` }
      assert.equal(await statusWith(good), 200)
      const bad = { 'x-api-key': adminKey, authorization: 'Bearer wrong' }
      assert.equal(await statusWith(bad), 401)
    })

    verifies(
      ['auth/missing', 'auth/required', 'http/health', 'errors/type/unauthorized'],
      'without a credential only health and the description answer',
      async () => {
        assert.equal(await statusWith({}), 401)
        assert.equal(await statusWith({ 'x-api-key': '' }), 401)
        assert.equal(await statusWith({ 'x-api-key': 'stw_key_unknown' }), 401)
        assert.equal(await statusWith({ authorization: 'Basic eDp5' }), 401)
        assert.equal(await statusWith({}, '/openapi.json'), 200)
        const health = await fetch(`${service.base}/healthz`)
        assert.deepEqual([health.status, await health.json()], [200, { ok: true }])
        const stranger = new Anthropic({ baseURL: service.base, apiKey: 'wrong', maxRetries: 0 })
        await assert.rejects(stranger.beta.agents.list(), AuthenticationError)
      },
    )

    verifies(
      [
        'api-keys/create',
        'api-keys/list',
        'api-keys/shown-once',
        'api-keys/field/id',
        'api-keys/field/name',
        'api-keys/field/kind',
        'api-keys/field/admin',
        'api-keys/field/environment-id',
        'api-keys/field/preview',
        'api-keys/field/times',
        'auth/prefixes',
      ],
      'a key is shown once, and stored as a hash',
      async () => {
        const made = await make({ name: 'for the ship' })
        const { key, ...shown } = made
        assert.match(key, /^stw_key_/)
        assert.equal(shown['type'], 'api_key')
        assert.equal(shown['kind'], 'workspace')
        assert.equal(shown['admin'], false)
        assert.equal(shown['environment_id'], null)
        assert.equal(shown['expires_at'], null)
        assert.equal(shown['revoked_at'], null)
        const preview = String(shown['preview'])
        assert.ok(preview.length > 4 && preview.length < key.length / 2)
        const listed = await service.ask('GET', path)
        assert.deepEqual(
          listed.body.data.find(({ id }) => id === made.id),
          shown,
        )
        assert.ok(!JSON.stringify(listed.body).includes(key))
        const rows = await service.database.read.selectFrom('api_keys').selectAll().execute()
        assert.ok(!JSON.stringify(rows).includes(key.slice('stw_key_'.length)))
        assert.ok(!service.logged.join('').includes(key))
        for (const name of ['', 'n'.repeat(257), 7]) {
          assert.equal((await service.ask('POST', path, { name })).status, 400)
        }
      },
    )

    verifies('api-keys/list', 'keys are listed of one environment', async () => {
      const [one, other] = [await environment(), await environment()]
      const first = await make({ environment_id: one })
      const second = await make({ environment_id: one })
      await make({ environment_id: other })
      const ids = async (query: string) =>
        (await service.ask('GET', `${path}?${query}`)).body.data.map(({ id }) => id)
      assert.deepEqual(await ids(`environment_id=${one}`), [second.id, first.id])
      assert.deepEqual(await ids('environment_id=env_0'), [])
    })

    verifies(
      ['api-keys/revoke', 'api-keys/revoked-at-once'],
      'a revoked key is refused with the very next request',
      async () => {
        const { id, key } = await make()
        assert.equal(await statusWith({ 'x-api-key': key }), 200)
        const deleted = await service.ask('DELETE', `${path}/${id}`)
        assert.deepEqual(deleted.body, { id, type: 'api_key_deleted' })
        assert.equal(await statusWith({ 'x-api-key': key }), 401)
        assert.equal((await service.ask('DELETE', `${path}/${id}`)).status, 404)
      },
    )

    verifies(
      'api-keys/open-answers',
      'streams end with the key that opened them, and no others',
      async () => {
        const session = await newSession(service)
        const url = `${service.base}/v1/sessions/${session}/events/stream`
        const follow = async ({ key }: { key: string }) => {
          const answer = await fetch(url, { headers: { 'x-api-key': key } })
          assert.equal(answer.status, 200)
          return answer
        }
        const revoked = await make()
        const kept = await follow(await make())
        const streams = [await follow(revoked), await follow(revoked)]
        await service.ask('DELETE', `${path}/${revoked.id}`)
        for (const each of streams) await each.text()
        const reader = kept.body?.getReader()
        assert.ok(reader)
        await post(service, session, 'say: still here')
        for (let text = ''; !text.includes('still here');) {
          const { done, value } = await reader.read()
          assert.equal(done, false)
          text += Buffer.from(value ?? []).toString()
        }
        await reader.cancel()
      },
    )

    verifies(
      ['api-keys/field/expires-at', 'api-keys/revoked-at-once'],
      'an expired key is refused, also when it worked a moment ago',
      async () => {
        const expires_at = new Date(Date.now() + 1_500).toISOString()
        const { key } = await make({ expires_at })
        assert.equal(await statusWith({ 'x-api-key': key }), 200)
        for (let waited = 0; Date.now() < Date.parse(expires_at); waited++) await statusWith({})
        assert.equal(await statusWith({ 'x-api-key': key }), 401)
        const past = await make({ expires_at: '2020-01-01T00:00:00Z' })
        assert.equal(await statusWith({ 'x-api-key': past.key }), 401)
      },
    )

    verifies(
      'api-keys/no-longer',
      'a key that expires makes no key that lasts longer, of whichever kind',
      async () => {
        const end = Date.now() + 3_600_000
        const at = (ms: number) => new Date(end + ms).toISOString()
        const maker = await make({ expires_at: at(0), admin: true })
        const environment_id = await environment()
        const made = async (more: object) => {
          const as = { 'x-api-key': maker.key }
          const body = { name: 'made by a key that expires', ...more }
          return (await service.ask('POST', path, body, as)).status
        }
        for (const wider of [{}, { admin: true }, { environment_id }, { expires_at: at(1_000) }])
          assert.equal(await made(wider), 403, JSON.stringify(wider))
        for (const narrower of [{ expires_at: at(0) }, { expires_at: at(-1_000), environment_id }])
          assert.equal(await made(narrower), 200)
      },
    )

    verifies(
      [
        'auth/environment-key/create',
        'auth/environment-key/nothing-else',
        'auth/environment-key/bearer-only',
        'auth/kinds-per-route',
      ],
      'an environment key opens nothing outside the work API, and never as x-api-key',
      async () => {
        const environment_id = await environment()
        const { key, kind } = await make({ environment_id })
        assert.match(key, /^stw_env_/)
        assert.equal(kind, 'environment')
        for (const url of ['/v1/agents', '/v1/sessions', '/v1/ext/api_keys', '/v1/models']) {
          assert.equal(await statusWith({ authorization: `Bearer ${key}` }, url), 401)
          assert.equal(await statusWith({ 'x-api-key': key }, url), 401)
        }
        const elsewhere = await service.ask('POST', path, { name: 'n', environment_id: 'env_no' })
        assert.equal(elsewhere.status, 404)
      },
    )

    verifies(
      ['auth/environment-key/admin-only', 'api-keys/initial', 'errors/type/forbidden'],
      'only an admin key makes environment keys',
      async () => {
        const environment_id = await environment()
        const { key } = await make()
        const body = { name: 'n', environment_id }
        const refused = await service.ask('POST', path, body, { 'x-api-key': key })
        assert.deepEqual(
          [refused.status, (refused.body['error'] as LooseBody)['type']],
          [403, 'forbidden'],
        )
        const client = new Anthropic({ baseURL: service.base, apiKey: key, maxRetries: 0 })
        await assert.rejects(client.post(path, { body }), PermissionDeniedError)
        assert.equal(
          (await service.ask('POST', path, { name: 'n' }, { 'x-api-key': key })).status,
          200,
        )
      },
    )

    verifies(
      ['api-keys/admin-create', 'api-keys/admin-revoke'],
      'only an admin key makes and revokes admin keys',
      async () => {
        const { key } = await make()
        const plain = { 'x-api-key': key }
        const body = { name: 'n', admin: true }
        assert.equal((await service.ask('POST', path, body, plain)).status, 403)
        const made = await make({ admin: true })
        assert.deepEqual([made['kind'], made['admin']], ['workspace', true])
        const refused = await service.ask('DELETE', `${path}/${made.id}`, undefined, plain)
        assert.equal(refused.status, 403)
        assert.match(JSON.stringify(refused.body), /only a workspace-admin key revokes/)
        assert.equal(await statusWith({ 'x-api-key': made.key }), 200)
        assert.equal((await service.ask('DELETE', `${path}/${made.id}`)).status, 200)
        assert.equal(await statusWith({ 'x-api-key': made.key }), 401)
        const both = { name: 'n', admin: true, environment_id: await environment() }
        assert.equal((await service.ask('POST', path, both)).status, 400)
      },
    )

    verifies(
      ['api-keys/last-admin', 'api-keys/operator-key'],
      'the last valid admin key is not revoked, also when two revoke each other at once',
      async () => {
        const { workspace, key: first } = await service.otherWorkspace('admins')
        const as = (key: string) => ({ 'x-api-key': key })
        const idOf = async (key: string) => {
          const { body } = await service.ask('GET', path, undefined, as(key))
          return body.data.find(({ admin, expires_at }) => admin && expires_at === null)?.id
        }
        const own = await idOf(first)
        const expires_at = '2020-01-01T00:00:00Z'
        await service.ask('POST', path, { name: 'old', admin: true, expires_at }, as(first))
        const last = await service.ask('DELETE', `${path}/${own}`, undefined, as(first))
        assert.equal(last.status, 409)
        assert.match(JSON.stringify(last.body), /last valid workspace-admin key/)
        const second = await service.operatorKey(workspace, { name: 'second', admin: true })
        assert.deepEqual([second.workspace, second.admin], [workspace, true])
        const crossed = await Promise.all([
          service.ask('DELETE', `${path}/${own}`, undefined, as(second.key)),
          service.ask('DELETE', `${path}/${second.id}`, undefined, as(first)),
        ])
        const left = [await statusWith(as(first)), await statusWith(as(second.key))]
        assert.equal(left.filter((status) => status === 200).length, 1)
        assert.equal(crossed.filter(({ status }) => status === 200).length, 1)
      },
    )

    verifies(
      ['api-keys/operator-command', 'service/tenants/isolated'],
      "another workspace has its own admin key, and sees nothing of the first's",
      async () => {
        const { key } = await service.otherWorkspace('second')
        assert.match(key, /^stw_key_/)
        const headers = { 'x-api-key': key }
        const mine = await service.client.beta.agents.create({ name: 'mine', model: 'offline' })
        assert.deepEqual((await service.ask('GET', '/v1/agents', undefined, headers)).body.data, [])
        const keys = (await service.ask('GET', path, undefined, headers)).body.data
        assert.deepEqual(
          keys.map(({ name, admin }) => [name, admin]),
          [['first key', true]],
        )
        const read = await service.ask('GET', `/v1/agents/${mine.id}`, undefined, headers)
        assert.equal(read.status, 404)
      },
    )
  })
}
