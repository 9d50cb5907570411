/** What is held about a person: its export and its removal. */
import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { systemClock } from '@steward/base/time.ts'
import type { TestIssuer } from '@steward/server/tenants/people/identities/issuer-fixture.ts'
import { startIssuer } from '@steward/server/tenants/people/identities/issuer-fixture.ts'
import { invitationToken } from '../invitations.ts'
import { identitySettings, tokenHeaders } from '../issuer.ts'
import type { PersonClient } from '../people.ts'
import { accept, firstLink, password } from '../people.ts'
import type { LooseBody, TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { newSession } from '../turns.ts'
import { until } from '../until.ts'
import { verifies } from '../verifies.ts'

type ExportedLine = { type: string; id?: string; [more: string]: unknown }
type CreatedBy = { type: string; id: string; name: string | null } | null

for (const database of scenarioDatabases(import.meta.filename))
  describe(`the data of a person on ${database}`, () => {
    let service: TestService
    let owner: PersonClient
    let issuer: TestIssuer
    before(async () => {
      issuer = await startIssuer()
      const rules = [{ subject: '*', workspace: 'default', role: 'member' }]
      const okta = { issuer: issuer.issuer, audience: 'steward', rules }
      service = await boot(database, {
        env: identitySettings({ okta }),
        overrides: { clock: systemClock },
      })
      owner = await accept(service, firstLink(service), { email: 'ada@example.com' })
    })
    after(async () => {
      await service.close()
      await issuer[Symbol.asyncDispose]()
    })

    const idOf = async (person: PersonClient) =>
      (await person.ask<{ user: { id: string } }>('GET', '/v1/ext/me')).body.user.id

    async function join(email: string): Promise<PersonClient> {
      const made = { email, role: 'member' }
      const { body } = await owner.ask<{ url: string }>('POST', '/v1/ext/invitations', made)
      return accept(service, invitationToken(body.url), { email, name: 'Bea Blum' })
    }

    async function sessionBy(person: PersonClient): Promise<string> {
      const { agent, environment_id } = (
        await service.ask('GET', `/v1/sessions/${await newSession(service)}`)
      ).body
      const body = { agent: (agent as LooseBody).id, environment_id, title: 'a secret title' }
      return (await person.ask<LooseBody>('POST', '/v1/sessions', body)).body.id
    }

    async function exported(by: PersonClient, id: string): Promise<ExportedLine[]> {
      const answer = await fetch(`${service.base}/v1/ext/people/${id}/export`, {
        method: 'POST',
        headers: { cookie: by.cookie, origin: service.base },
      })
      const text = await answer.text()
      assert.equal(answer.status, 200, text)
      assert.equal(answer.headers.get('content-type'), 'application/x-ndjson')
      return text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as ExportedLine)
    }

    verifies(
      ['people/export', 'people/export/callers'],
      'a person and an operator export it as lines of JSON, and nobody else learns that the person exists',
      async () => {
        const bea = await join('bea@example.com')
        const cay = await join('cay@example.com')
        const id = await idOf(bea)
        const session = await sessionBy(bea)
        const own = await exported(bea, id)
        const ofType = (type: string) => own.filter((line) => line.type === type)
        assert.deepEqual(
          ofType('person').map(({ email, name }) => [email, name]),
          [['bea@example.com', 'Bea Blum']],
        )
        for (const type of ['sign_in', 'sign_in_account', 'membership', 'invitation'])
          assert.equal(ofType(type).length, 1, type)
        assert.deepEqual(
          ofType('session').map((line) => line.id),
          [session],
        )
        assert.ok(ofType('audit_line').some(({ action }) => action === 'session.create'))
        const text = JSON.stringify(own)
        assert.ok(!text.includes(password) && !/password_hash|token_hash/.test(text))

        assert.deepEqual(
          (await exported(owner, id))
            .filter(({ type }) => type === 'session')
            .map((each) => each.id),
          [session],
        )
        const path = `/v1/ext/people/${id}/export`
        assert.equal((await cay.ask('POST', path)).status, 404)
        assert.equal((await owner.ask('POST', '/v1/ext/people/user_none/export')).status, 404)
        assert.equal((await service.ask('POST', path)).status, 403)

        await owner.ask('DELETE', `/v1/ext/members/${id}`)
        const left = await exported(bea, id)
        assert.deepEqual(
          left.filter(({ type }) => type === 'session' || type === 'membership'),
          [],
        )
      },
    )

    verifies(
      ['people/remove', 'people/remove/names', 'people/remove/audit', 'people/remove/refused'],
      'an operator removes a person: the name goes from what the person has made, and the audit keeps it',
      async () => {
        const dan = await join('dan@example.com')
        const id = await idOf(dan)
        const session = await sessionBy(dan)
        const creator = async () =>
          (await service.ask<{ created_by: CreatedBy }>('GET', `/v1/ext/sessions/${session}`)).body
            .created_by
        assert.match(String((await creator())?.name), /Bea Blum/)
        const path = `/v1/ext/people/${id}`
        const eve = await join('eve@example.com')
        assert.equal((await eve.ask('DELETE', path)).status, 404)
        assert.equal((await dan.ask('DELETE', path)).status, 403)
        const removed = await owner.ask('DELETE', path)
        assert.deepEqual([removed.status, removed.body['type']], [200, 'person_deleted'])
        assert.equal((await dan.ask('GET', '/v1/ext/me')).status, 401)
        await until(async () => (await creator())?.name === null)
        assert.deepEqual(await creator(), { type: 'user', id, name: null })
        const { body } = await service.ask('GET', `/v1/ext/audit?actor_id=${id}`)
        assert.match(JSON.stringify(body.data), /Bea Blum/)
        await until(async () => {
          const [line] = await service.database.read
            .selectFrom('audit_lines')
            .select(['tenant_id', 'before_fields'])
            .where('action', '=', 'user.remove_names')
            .where('resource_id', '=', id)
            .execute()
          return (
            line !== undefined && line.tenant_id === '' && /"rows":1/.test(line.before_fields ?? '')
          )
        })
        const gone = await owner.ask('POST', `${path}/export`)
        assert.equal(gone.status, 404)
        const last = await owner.ask<{ error: { message: string } }>(
          'DELETE',
          `/v1/ext/people/${await idOf(owner)}`,
        )
        assert.equal(last.status, 409)
        assert.match(last.body.error.message, /last owner/)
      },
    )

    verifies(
      ['people/subjects', 'people/export', 'people/remove', 'people/remove/names'],
      'an operator exports and removes a subject of an identity provider, who has no account',
      async () => {
        const claims = { sub: 'sam', email: 'sam@acme.example', name: 'Sam Subject' }
        const bearer = await tokenHeaders(issuer, claims)
        const { agent, environment_id } = (
          await service.ask('GET', `/v1/sessions/${await newSession(service)}`)
        ).body
        const body = { agent: (agent as LooseBody).id, environment_id }
        const { body: made } = await service.ask<LooseBody>('POST', '/v1/sessions', body, bearer)
        const creator = async () =>
          (await service.ask<{ created_by: CreatedBy }>('GET', `/v1/ext/sessions/${made.id}`)).body
            .created_by
        const before = await creator()
        assert.match(before?.id ?? '', /^sub_/)
        assert.match(String(before?.name), /Sam Subject/)
        const id = String(before?.id)
        const lines = await exported(owner, id)
        const idsOf = (type: string) => lines.flatMap((each) => (each.type === type ? each.id : []))
        assert.deepEqual([idsOf('subject'), idsOf('session')], [[id], [made.id]])
        const path = `/v1/ext/people/${id}`
        assert.equal((await service.ask('DELETE', path, undefined, bearer)).status, 403)
        assert.equal((await owner.ask('DELETE', path)).status, 200)
        await until(async () => (await creator())?.name === null)
        assert.equal((await creator())?.id, id)
        assert.equal((await owner.ask('POST', `${path}/export`)).status, 404)
        assert.equal((await owner.ask('DELETE', path)).status, 404)
      },
    )
  })
