import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { systemClock } from '@steward/base/time.ts'
import type { TestEndpoint } from '@steward/server/tenants/webhooks/fixture.ts'
import { startTestEndpoint } from '@steward/server/tenants/webhooks/fixture.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { custom, fresh, newSession, post, turn } from '../turns.ts'
import { verifies } from '../verifies.ts'
import type { TestDelivery, ListedEndpoint } from '../webhooks.ts'
import { deliveries, delivered, haveEnded, hintFailed, hooks, newEndpoint } from '../webhooks.ts'
import { newPool, poll, sessionIn } from '../workers.ts'

const beta = { 'vendor-beta': 'agent-memory-2026-07-22' }
const hintKey = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const [minute, day] = [60_000, 24 * 60 * 60_000]

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`webhooks on ${database}`, () => {
    let service: TestService
    let hinted: TestEndpoint
    let late = 0
    before(async () => {
      hinted = await startTestEndpoint()
      const env = {
        PLATFORM_MANAGED_AGENTS_WEBHOOK_URL: hinted.url,
        PLATFORM_MANAGED_AGENTS_WEBHOOK_SIGNING_KEY: hintKey,
        PLATFORM_MANAGED_AGENTS_ORGANIZATION_ID: 'org_of_the_operator',
      }
      const clock = { ...systemClock, now: () => Date.now() + late }
      service = await boot(database, { env, overrides: { clock } })
    })
    after(async () => {
      await service.close()
      await hinted[Symbol.asyncDispose]()
    })

    const unwrap = ({ body, headers }: TestEndpoint['letters'][number], key: string) =>
      service.client.beta.webhooks.unwrap(body, {
        headers: headers as Record<string, string>,
        key,
      })
    const change = async <T = ListedEndpoint>(id: string, body: object) =>
      service.ask<T>('POST', `${hooks}/${id}`, body)

    verifies(
      [
        'webhooks/signed',
        'webhooks/payload',
        'webhooks/organization',
        'settings/webhook-url',
        'settings/webhook-signing-key',
        'settings/webhook-organization-id',
        'webhooks/events/run-started',
        'work/state/queued',
      ],
      'work that is queued is hinted at, signed, and with nothing of it',
      async () => {
        const pool = await newPool(service)
        await using there = await startTestEndpoint()
        const { secret } = await newEndpoint(service, there.url, ['session.status_run_started'])
        const session = await sessionIn(service, pool)
        const [letter] = await hinted.came(1)
        const [ours] = await there.came(1)
        assert.ok(letter && ours)
        const event = unwrap(letter, hintKey)
        assert.deepEqual(Object.keys(event.data).toSorted(), [
          'id',
          'organization_id',
          'type',
          'workspace_id',
        ])
        assert.equal(event.data.type, 'session.status_run_started')
        assert.ok('id' in event.data)
        assert.equal(event.data.id, session)
        assert.equal(event.data.organization_id, 'org_of_the_operator')
        assert.equal(unwrap(ours, secret).id, event.id)
        assert.equal((await poll(service, pool))?.data.id, session)
        const cloud = await newSession(service)
        await turn(service, cloud, 'say: x')
        await there.came(2)
        assert.equal(JSON.parse(there.letters[1]?.body ?? '').data.id, cloud)
        assert.equal(hinted.letters.length, 1)
      },
    )

    verifies(
      'webhooks/harmless',
      'work is claimed once, whether its hints are lost or come twice',
      async () => {
        hinted.answer((response) => response.destroy())
        const pool = await newPool(service)
        await sessionIn(service, pool)
        await hintFailed(service)
        late += minute
        await hinted.came(3)
        const claims = await Promise.all([poll(service, pool), poll(service, pool)])
        assert.equal(claims.filter(Boolean).length, 1)
        hinted.answer((response) => void response.writeHead(204).end())
      },
    )

    verifies(
      [
        'webhooks/endpoints/create',
        'webhooks/endpoints/list',
        'webhooks/endpoints/get',
        'webhooks/endpoints/update',
        'webhooks/endpoints/delete',
        'webhooks/secret',
        'webhooks/url',
        'webhooks/events/refused',
      ],
      'endpoints are made, changed and removed, and show their secret once',
      async () => {
        const url = 'https://hooks.example/in'
        const made = await newEndpoint(service, url, ['agent.created'])
        const { secret, ...shown } = made
        assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
        assert.equal(shown.status, 'enabled')
        const got = await service.ask<ListedEndpoint>('GET', `${hooks}/${made.id}`)
        assert.deepEqual(got.body, shown)
        const listed = await service.ask('GET', hooks)
        assert.deepEqual(
          listed.body.data.find(({ id }) => id === made.id),
          shown,
        )
        assert.ok(!service.logged.join('').includes(secret.slice(6)))
        const same = await change(made.id, { url })
        assert.deepEqual(same.body, shown)
        const next = { enabled_events: ['*'], description: 'for the ship' }
        const changed = await service.ask<ListedEndpoint>('PATCH', `${hooks}/${made.id}`, next)
        assert.deepEqual(
          { ...changed.body, updated_at: shown['updated_at'] },
          { ...shown, ...next },
        )
        for (const wrong of [
          { url: 'ftp://hooks.example/', enabled_events: ['*'] },
          { url: 'https://user:pass@hooks.example/', enabled_events: ['*'] },
          { url: 'https://hooks.example/#part', enabled_events: ['*'] },
          { url, enabled_events: [] },
          { url, enabled_events: ['agent.created', 'agent.created'] },
          { url, enabled_events: ['*'], secret: 'mine' },
        ])
          assert.equal((await service.ask('POST', hooks, wrong)).status, 400, wrong.url)
        for (const name of ['deployment.deleted', 'agent.deleted', 'session.renamed']) {
          const enabled_events = ['agent.created', name]
          const refused = await service.raw('POST', hooks, { url, enabled_events })
          assert.equal(refused.status, 400)
          assert.ok((await refused.text()).includes(name))
        }
        const deleted = await service.ask('DELETE', `${hooks}/${made.id}`)
        assert.deepEqual(deleted.body, { id: made.id, type: 'webhook_endpoint_deleted' })
        assert.equal((await service.ask('GET', `${hooks}/${made.id}`)).status, 404)
        assert.equal((await service.ask('DELETE', `${hooks}/${made.id}`)).status, 404)
      },
    )

    verifies('webhooks/endpoints/limit', 'a workspace has at most twenty endpoints', async () => {
      const { key } = await service.otherWorkspace(fresh('many'))
      const body = { url: 'https://hooks.example/', enabled_events: ['*'] }
      const make = () => service.ask('POST', hooks, body, { 'x-api-key': key })
      for (let n = 0; n < 20; n++) assert.equal((await make()).status, 200)
      assert.equal((await make()).status, 400)
    })

    verifies(
      [
        'webhooks/events/agent',
        'webhooks/events/environment',
        'webhooks/events/session',
        'webhooks/events/session-status',
        'webhooks/events/session-log',
        'webhooks/events/vault',
        'webhooks/events/credential',
        'webhooks/events/memory-store',
        'webhooks/ids-only',
        'webhooks/durable',
        'webhooks/at-least-once',
      ],
      'each change is sent to the endpoints that asked for it, by the ids of its subjects',
      async () => {
        // The service repeats hints for work of earlier tests that nobody acknowledges. Deleted sessions have no work.
        const { sessions } = service.client.beta
        for await (const { id } of sessions.list()) await sessions.delete(id)
        await using there = await startTestEndpoint()
        const { id, secret } = await newEndpoint(service, there.url)
        const call = async (path: string, body?: object, method = 'POST') => {
          const answer = await service.ask(method, path, body, beta)
          assert.equal(answer.status, 200, `${path}: ${JSON.stringify(answer.body)}`)
          return answer.body.id
        }
        const name = fresh('told')
        const agent = await call('/v1/agents', { name, model: 'offline', tools: [custom] })
        await call(`/v1/agents/${agent}`, { description: 'another' })
        await call(`/v1/agents/${agent}`, { description: 'another' })
        const environment = await call('/v1/environments', { name })
        await call(`/v1/environments/${environment}`, { description: 'another' })
        const made = { agent, environment_id: environment }
        const session = await call('/v1/sessions', made)
        await call(`/v1/sessions/${session}`, { title: 'another' })
        await turn(service, session, 'call look_up {"what": "x"}')
        await post(service, session, { type: 'user.interrupt' })
        await delivered(service, id, (all) => counts(all).get('session.idled') === 2)
        await call(`/v1/sessions/${session}/archive`)
        const brief = await call('/v1/sessions', made)
        await call(`/v1/sessions/${brief}`, undefined, 'DELETE')
        await call(`/v1/agents/${agent}/archive`)
        await call(`/v1/environments/${environment}/archive`)
        const spare = await call('/v1/environments', { name: fresh('spare') })
        await call(`/v1/environments/${spare}`, undefined, 'DELETE')
        const vault = await call('/v1/vaults', { name })
        const credentials = `/v1/vaults/${vault}/credentials`
        const token = { auth: { type: 'cap_cli', cli_id: 'gh', token: 'a-secret-token' } }
        const credential = await call(credentials, token)
        await call(`${credentials}/${credential}/archive`)
        await call(`${credentials}/${credential}`, undefined, 'DELETE')
        await call(`/v1/vaults/${vault}/archive`)
        await call(`/v1/vaults/${vault}`, undefined, 'DELETE')
        const store = await call('/v1/memory_stores', { name })
        await call(`/v1/memory_stores/${store}/archive`)
        await call(`/v1/memory_stores/${store}`, undefined, 'DELETE')
        const refused = await service.ask('POST', `/v1/agents/${agent}`, { name: 'too late' })
        assert.equal(refused.status, 400)
        const all = await delivered(service, id, haveEnded)
        assert.deepEqual(Object.fromEntries(counts(all)), {
          'agent.archived': 1,
          'agent.created': 1,
          'agent.updated': 1,
          'environment.archived': 1,
          'environment.created': 2,
          'environment.deleted': 1,
          'environment.updated': 1,
          'memory_store.archived': 1,
          'memory_store.created': 1,
          'memory_store.deleted': 1,
          'session.archived': 1,
          'session.created': 2,
          'session.deleted': 1,
          'session.idled': 2,
          'session.pending': 2,
          'session.requires_action': 1,
          'session.running': 1,
          'session.status_idled': 2,
          'session.status_run_started': 1,
          'session.status_terminated': 1,
          'session.updated': 1,
          'vault.archived': 1,
          'vault.created': 1,
          'vault.deleted': 1,
          'vault_credential.archived': 1,
          'vault_credential.created': 1,
          'vault_credential.deleted': 1,
        })
        const ids: Record<string, string[]> = {
          agent: [agent],
          environment: [environment, spare],
          session: [session, brief],
          vault: [vault],
          vault_credential: [credential],
          memory_store: [store],
        }
        for (const letter of there.letters) {
          const data: { type: string; id: string; vault_id?: string } = unwrap(letter, secret).data
          const { type, id: about, ...rest } = data
          const [family = ''] = type.split('.')
          assert.ok(ids[family]?.includes(about), letter.body)
          const { vault_id, ...named } = rest
          assert.equal(vault_id, family === 'vault_credential' ? vault : undefined)
          assert.deepEqual(Object.keys(named), ['organization_id', 'workspace_id'])
          assert.equal(letter.headers['webhook-id'], (JSON.parse(letter.body) as { id: string }).id)
        }
        await service.ask('DELETE', `${hooks}/${id}`)
      },
    )

    verifies(
      ['webhooks/endpoints/rotate', 'webhooks/rotation-overlap', 'webhooks/verified'],
      'a rotated secret signs beside its successor for a day',
      async () => {
        await using there = await startTestEndpoint()
        const { id, secret } = await newEndpoint(service, there.url, ['vault.created'])
        const rotated = await service.ask<ListedEndpoint>('POST', `${hooks}/${id}/rotate_secret`)
        const next = rotated.body.secret
        assert.notEqual(next, secret)
        const until = Date.parse(rotated.body.previous_secret_expires_at ?? '')
        assert.ok(Math.abs(until - (Date.now() + late + day)) < minute)
        const heard = async (count: number) => {
          await service.ask('POST', `${hooks}/${id}/test`)
          const letter = (await there.came(count))[count - 1]
          assert.ok(letter)
          return letter
        }
        // The signature has the time of this service's clock. The client's clock is the real one.
        const fresh = (letter: TestEndpoint['letters'][number]) => {
          const at = Number(letter.headers['webhook-timestamp']) * 1000
          assert.ok(Math.abs(at - (Date.now() + late)) < minute)
          return letter
        }
        const was = late
        late = 0
        const both = fresh(await heard(1))
        assert.equal(String(both.headers['webhook-signature']).split(' ').length, 2)
        assert.ok(unwrap(both, secret) && unwrap(both, next))
        assert.throws(() => unwrap({ ...both, body: both.body.replace('test', 'tent') }, next))
        late = day + minute + was
        const one = fresh(await heard(2))
        assert.equal(String(one.headers['webhook-signature']).split(' ').length, 1)
        assert.throws(() => unwrap(one, next), /too new/)
        const shown = await service.ask<ListedEndpoint>('GET', `${hooks}/${id}`)
        assert.equal(shown.body.previous_secret_expires_at, null)
      },
    )

    verifies(
      [
        'webhooks/disabled',
        'webhooks/disabled-silent',
        'webhooks/endpoints/test',
        'webhooks/deliveries/redeliver',
        'webhooks/deliveries/list',
        'webhooks/deliveries/get',
        'webhooks/deliveries/fields',
      ],
      'a redirect disables; once it is enabled again, failed deliveries are sent anew as they were',
      async () => {
        await using there = await startTestEndpoint()
        there.answer((response) => response.writeHead(308, { location: '/moved' }).end())
        const { id } = await newEndpoint(service, there.url, ['vault.created'])
        const tested = await service.ask<TestDelivery>('POST', `${hooks}/${id}/test`)
        assert.equal(tested.body.event_type, 'webhook_endpoint.test')
        assert.equal(tested.body.status, 'waiting')
        const [failed] = await delivered(service, id, haveEnded)
        assert.ok(failed)
        assert.deepEqual(
          failed.attempts.map(({ status, error }) => [status, error]),
          [[308, null]],
        )
        assert.ok(failed.ended_at && failed.next_attempt_at === null)
        const { body: shown } = await service.ask<ListedEndpoint>('GET', `${hooks}/${id}`)
        assert.deepEqual([shown.status, shown.disabled_reason], ['disabled', 'redirect'])
        const again = `${hooks}/${id}/deliveries/${failed.id}/redeliver`
        for (const path of [`${hooks}/${id}/test`, again])
          assert.equal((await service.ask('POST', path)).status, 400)
        await service.ask('POST', '/v1/vaults', { name: 'unheard' })
        assert.equal((await deliveries(service, id)).length, 1)
        there.answer((response) => void response.writeHead(200).end('thanks'))
        const enabled = await change(id, { status: 'enabled' })
        assert.deepEqual([enabled.body.status, enabled.body.disabled_reason], ['enabled', null])
        const second = await service.ask<TestDelivery>('POST', again)
        assert.notEqual(second.body.id, failed.id)
        assert.equal(second.body.event_id, failed.event_id)
        await delivered(service, id, haveEnded)
        assert.deepEqual(
          there.letters.map(({ url, body }) => [url, body]),
          [
            ['/hook', failed.body],
            ['/hook', failed.body],
          ],
        )
        const well = await deliveries(service, id, '&status=delivered')
        assert.deepEqual(
          well.map((each) => each.id),
          [second.body.id],
        )
        const one = await service.ask('GET', `${hooks}/${id}/deliveries/${second.body.id}`)
        assert.deepEqual<unknown>(one.body, well[0])
        const off = await change(id, { status: 'disabled' })
        assert.equal(off.body.disabled_reason, 'request')
      },
    )

    verifies(
      ['webhooks/endpoint-attempts', 'service/tenants/isolated'],
      'a delivery that is not accepted is tried three times, and nothing of one workspace reaches another',
      async () => {
        await using there = await startTestEndpoint()
        there.answer((response) => void response.writeHead(500).end())
        const { id } = await newEndpoint(service, there.url, ['vault.created'])
        const other = { 'x-api-key': (await service.otherWorkspace(fresh('silent'))).key }
        await service.ask('POST', '/v1/vaults', { name: 'not ours' }, other)
        await service.ask('POST', '/v1/vaults', { name: 'ours' })
        for (const count of [1, 2, 3]) {
          await delivered(service, id, ([one]) => one?.attempts.length === count)
          late += 2 * minute
        }
        const [one, ...rest] = await delivered(service, id, haveEnded)
        assert.equal(rest.length, 0)
        assert.equal(one?.status, 'failed')
        assert.equal(there.letters.length, 3)
      },
    )
  })
}

const counts = (all: TestDelivery[]): Map<string, number> => {
  const found = new Map<string, number>()
  for (const { event_type } of all) found.set(event_type, (found.get(event_type) ?? 0) + 1)
  return found
}
