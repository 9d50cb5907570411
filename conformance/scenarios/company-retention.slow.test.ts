/** How long a workspace keeps things, and holds. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe } from 'node:test'
import { dayMs, hourMs, minuteMs } from '@steward/base/settings/kinds.ts'
import { systemClock } from '@steward/base/time.ts'
import type { HoldShown } from '@steward/protocol/holds.ts'
import type { RetentionShown } from '@steward/protocol/rules.ts'
import { deleteWorkspace } from '@steward/server/tenants/workspaces/delete.ts'
import { makeHold, releaseHold } from '@steward/server/tenants/workspaces/holds/holds.ts'
import type { PersonClient } from '../people.ts'
import { accept, firstLink } from '../people.ts'
import type { LooseBody, TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { fresh, newSession, turn } from '../turns.ts'
import { until } from '../until.ts'
import { verifies } from '../verifies.ts'

type Refusal = { error: { message: string; details?: { error_code?: string } } }

for (const database of scenarioDatabases(import.meta.filename))
  describe(`retention and holds on ${database}`, () => {
    let service: TestService
    let owner: PersonClient
    let ahead = 0
    before(async () => {
      // Jobs wait an hour or a minute between their runs: here a moment.
      const clock = {
        ...systemClock,
        now: () => Date.now() + ahead,
        sleep: (ms: number, signal: AbortSignal) =>
          systemClock.sleep(ms === hourMs || ms === minuteMs ? 50 : ms, signal),
      }
      service = await boot(database, {
        overrides: { clock },
        env: {
          RETENTION_DAYS: 'deliveries:5',
          RETENTION_MAX_DAYS: 'sessions:400',
          SESSION_DELETED_HOURS: '1',
        },
      })
      owner = await accept(service, firstLink(service), { email: 'ada@example.com' })
    })
    after(() => service.close())
    beforeEach(async () => {
      for (const { id } of (await service.ask<{ data: HoldShown[] }>('GET', '/v1/ext/holds')).body
        .data)
        await service.ask('POST', `/v1/ext/holds/${id}/release`)
      await keep({ sessions: null, files: null, outputs: null, memory_versions: null })
    })

    const retention = async () =>
      (await service.ask<RetentionShown>('GET', '/v1/ext/retention')).body
    async function keep(days: object): Promise<RetentionShown> {
      const { status, body } = await service.ask<RetentionShown>('POST', '/v1/ext/retention', days)
      assert.equal(status, 200, JSON.stringify(body))
      return body
    }
    async function hold(scope: object): Promise<HoldShown> {
      const made = { scope, reason: 'case 4711' }
      const { status, body } = await service.ask<HoldShown>('POST', '/v1/ext/holds', made)
      assert.equal(status, 200, JSON.stringify(body))
      return body
    }
    const release = async ({ id }: HoldShown) =>
      (await service.ask<HoldShown>('POST', `/v1/ext/holds/${id}/release`)).body
    const statusOf = async (session: string) =>
      (await service.ask('GET', `/v1/sessions/${session}`)).status
    const lines = async (query: string) =>
      (await service.ask('GET', `/v1/ext/audit?${query}`)).body.data

    async function upload(): Promise<string> {
      const form = new FormData()
      form.set('file', new Blob(['abc']), 'a.txt')
      const answer = await fetch(`${service.base}/v1/files`, {
        method: 'POST',
        headers: { 'x-api-key': 'conformance-admin-key' },
        body: form,
      })
      assert.equal(answer.status, 200)
      return ((await answer.json()) as LooseBody).id
    }

    verifies(
      ['retention/get', 'retention/update', 'retention/operator'],
      'the lower of what workspace and operator say holds, and shows what would go now',
      async () => {
        const before = await retention()
        assert.deepEqual(
          [before.deliveries.days, before.deliveries.default, before.sessions.most],
          [5, 5, 400],
        )
        const session = await newSession(service)
        await turn(service, session, 'say: a')
        const changed = await keep({ sessions: 10_000, files: 30 })
        assert.deepEqual(
          [changed.sessions.days, changed.sessions.workspace, changed.sessions.due],
          [400, 10_000, 0],
        )
        assert.equal(changed.files.days, 30)
        assert.equal((await keep({ sessions: null })).sessions.days, 400)
        const wrong = await service.ask('POST', '/v1/ext/retention', { sessions: 0 })
        assert.equal(wrong.status, 400)
        // Where each workspace has its own database, the line is brought there a moment later.
        await until(async () => {
          const found = await lines('action=retention.update')
          return found.some((line) => JSON.stringify(line['after']) === '{"sessions":null}')
        })
      },
    )

    verifies(
      ['holds/create', 'holds/list', 'holds/get', 'holds/refusal'],
      'a caller deletes nothing that a hold keeps, and the refusal names the hold and who can release it',
      async () => {
        const session = await newSession(service)
        const one = await hold({ type: 'session', session_id: session })
        assert.deepEqual(one.created_by?.type, 'api_key')
        const refusal = await service.ask<Refusal>('DELETE', `/v1/sessions/${session}`)
        assert.equal(refusal.status, 409)
        assert.equal(refusal.body.error.details?.error_code, 'held')
        assert.equal(
          refusal.body.error.message,
          `session ${session} is kept by the hold ${one.id} on its session: an owner or an admin of the workspace can release it (POST /v1/ext/holds/${one.id}/release)`,
        )
        await release(one)
        const file = await upload()
        const store = await service.client.beta.memoryStores.create({ name: fresh('store') })
        const whole = await hold({ type: 'workspace' })
        for (const path of [`/v1/sessions/${session}`, `/v1/files/${file}`])
          assert.equal((await service.ask('DELETE', path)).status, 409, path)
        await assert.rejects(service.client.beta.memoryStores.delete(store.id), { status: 409 })
        const list = async (query = '') =>
          (await service.ask<{ data: HoldShown[] }>('GET', `/v1/ext/holds${query}`)).body.data
        assert.deepEqual(
          (await list()).map(({ id }) => id),
          [whole.id],
        )
        assert.ok((await list('?include_released=true')).some(({ id }) => id === one.id))
        const { body: shown } = await service.ask<HoldShown>('GET', `/v1/ext/holds/${whole.id}`)
        assert.deepEqual(shown, whole)
        await release(whole)
        assert.equal((await service.ask('DELETE', `/v1/files/${file}`)).status, 200)
        assert.equal((await service.ask('DELETE', `/v1/sessions/${session}`)).status, 200)
        const missing = { scope: { type: 'session', session_id: session }, reason: 'late' }
        assert.equal((await service.ask('POST', '/v1/ext/holds', missing)).status, 404)
      },
    )

    verifies(
      ['holds/scope', 'holds/person', 'people/remove/refused'],
      'a hold on a person keeps the sessions and the account of the person',
      async () => {
        const me = await owner.ask<{ user: { id: string } }>('GET', '/v1/ext/me')
        const { id } = me.body.user
        const made = await newSession(service)
        const { agent, environment_id } = (await service.ask('GET', `/v1/sessions/${made}`)).body
        const body = { agent: (agent as LooseBody).id, environment_id }
        const { body: own } = await owner.ask<LooseBody>('POST', '/v1/sessions', body)
        const one = await hold({ type: 'person', person_id: id })
        assert.equal((await service.ask('DELETE', `/v1/sessions/${own.id}`)).status, 409)
        assert.equal((await service.ask('DELETE', `/v1/sessions/${made}`)).status, 200)
        const confirm = encodeURIComponent('ada@example.com')
        const kept = await owner.ask<Refusal>('DELETE', `/v1/ext/me?confirm=${confirm}`)
        assert.equal(kept.status, 409)
        assert.match(kept.body.error.message, new RegExp(one.id))
        const unknown = { scope: { type: 'person', person_id: 'user_elsewhere' }, reason: 'r' }
        assert.equal((await service.ask('POST', '/v1/ext/holds', unknown)).status, 404)
      },
    )

    verifies(
      ['holds/scope', 'holds/release'],
      'a workspace with a hold is not deleted, and a hold of the operator is released by the operator alone',
      async () => {
        const { databases } = service
        const deps = { databases, clock: systemClock }
        const { workspace, key } = await service.otherWorkspace(fresh('other'))
        const made = await makeHold(deps, workspace, { scope: { type: 'workspace' }, reason: 'r' })
        const database = await databases.open(workspace)
        await database.write((tx) =>
          tx
            .updateTable('holds')
            .set({ creator_type: 'operator' })
            .where('id', '=', made.id)
            .execute(),
        )
        const headers = { 'x-api-key': key }
        const path = `/v1/ext/holds/${made.id}/release`
        assert.equal((await service.ask('POST', path, undefined, headers)).status, 403)
        const now = Date.now()
        const remove = () =>
          databases.control.write(async (tx) => {
            await tx
              .updateTable('workspaces')
              .set({ archived_at: new Date(now).toISOString() })
              .where('id', '=', workspace)
              .execute()
            await deleteWorkspace(tx, { id: workspace, confirm: workspace, now })
          })
        await assert.rejects(remove(), new RegExp(`is kept by the hold ${made.id}`))
        await releaseHold(deps, workspace, made.id, true)
        await remove()
      },
    )

    verifies(
      [
        'retention/kinds',
        'retention/remove',
        'retention/proof',
        'retention/proof/session',
        'holds/scope',
        'holds/retention',
        'holds/release',
      ],
      'old sessions and files go with a line each, those of a hold stay until its release, and young ones stay',
      async () => {
        const [old, held] = [await newSession(service), await newSession(service)]
        for (const session of [old, held]) await turn(service, session, 'say: a')
        const file = await upload()
        const kept = await hold({ type: 'session', session_id: held })
        ahead += 31 * dayMs
        const young = await newSession(service)
        const { sessions } = await keep({ sessions: 30, files: 30 })
        assert.ok(sessions.held >= 1)
        await until(async () => (await statusOf(old)) === 404)
        await until(async () => (await service.raw('GET', `/v1/files/${file}`)).status === 404)
        assert.deepEqual([await statusOf(held), await statusOf(young)], [200, 200])

        const [ofSession] = await lines(`resource_id=${old}&action=retention.remove`)
        const facts = ofSession?.['before'] as Record<string, unknown>
        assert.deepEqual([facts['rule'], facts['days']], ['sessions', 30])
        assert.match(String(facts['events_sha256']), /^[0-9a-f]{64}$/)
        assert.ok(Number(facts['events']) > 0)
        const [ofFile] = await lines(`resource_id=${file}&action=retention.remove`)
        assert.match(JSON.stringify(ofFile?.['before']), /"sha256":"[0-9a-f]{64}"/)

        const again = await release(kept)
        assert.ok(again.released_at)
        assert.equal((await release(kept)).released_at, again.released_at)
        await until(async () => (await statusOf(held)) === 404)
        ahead += 2 * hourMs
        await until(
          async () => (await lines(`resource_id=${old}&action=session.remove`)).length > 0,
        )
      },
    )
  })
