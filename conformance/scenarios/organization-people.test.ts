/** The people, endpoints and reports of a workspace, by the organisation resources of the official client. */
import assert from 'node:assert/strict'
import { BadRequestError, ConflictError, NotFoundError } from '@anthropic-ai/sdk'
import { after, before, describe } from 'node:test'
import type { PersonClient } from '../people.ts'
import { invitationToken } from '../invitations.ts'
import { accept, firstLink } from '../people.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { newSession, turn } from '../turns.ts'
import { verifies } from '../verifies.ts'

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`the organisation by the official client on ${database}`, () => {
    let service: TestService
    let owner: PersonClient
    let workspace: string
    before(async () => {
      service = await boot(database)
      owner = await accept(service, firstLink(service), { email: 'ada@example.com' })
      const me = await service.ask<{ active_workspace_id: string }>('GET', '/v1/ext/me')
      workspace = me.body.active_workspace_id
    })
    after(() => service.close())
    const organization = () => service.client.beta.organization
    const tokenOf = (invite: object) => invitationToken('url' in invite ? String(invite.url) : '')

    async function invited(email: string, role: 'developer' | 'user'): Promise<string> {
      const invite = await organization().invites.create({ email, role })
      const person = await accept(service, tokenOf(invite), { name: email })
      const me = await person.ask<{ user: { id: string } }>('GET', '/v1/ext/me')
      return me.body.user.id
    }

    verifies(
      ['organization/invites', 'organization/roles'],
      'people are invited, listed and no longer invited',
      async () => {
        const { invites } = organization()
        const made = await invites.create({ email: 'Bea@example.com', role: 'user' })
        assert.deepEqual(
          [made.email, made.role, made.status],
          ['bea@example.com', 'user', 'pending'],
        )
        assert.equal((await invites.retrieve(made.id)).id, made.id)
        assert.ok(!('url' in (await invites.retrieve(made.id))))
        const pending = async () => {
          const ids: string[] = []
          for await (const { id } of invites.list({ statuses: ['pending'], limit: 1 })) ids.push(id)
          return ids
        }
        assert.ok((await pending()).includes(made.id))
        assert.equal((await invites.delete(made.id)).type, 'invite_deleted')
        assert.ok(!(await pending()).includes(made.id))
        await assert.rejects(invites.retrieve(made.id), NotFoundError)
        const billing = invites.create({ email: 'b@example.com', role: 'billing' })
        await assert.rejects(billing, /role: billing has no counterpart here; take user, developer/)
        const grouped = { email: 'b@example.com', role: 'user' as const, rbac_group_ids: ['g'] }
        await assert.rejects(invites.create(grouped), BadRequestError)
        const accepted = await invited('cy@example.com', 'developer')
        const [row] = (await invites.list({ email: 'cy@example.com' })).data
        assert.deepEqual([row?.status, row?.role], ['accepted', 'developer'])
        assert.ok(accepted.startsWith('user_'))
      },
    )

    verifies('organization/users', 'users are listed, changed and removed', async () => {
      const { users } = organization()
      const id = await invited('dan@example.com', 'user')
      assert.equal((await users.retrieve(id)).email, 'dan@example.com')
      assert.equal((await users.update(id, { role: 'developer' })).role, 'developer')
      const found = await users.list({ roles: ['owner'] })
      assert.deepEqual(
        found.data.map(({ email, role }) => [email, role]),
        [['ada@example.com', 'owner']],
      )
      const all: string[] = []
      for await (const user of users.list({ limit: 1 })) all.push(user.id)
      assert.ok(all.length >= 2 && all.includes(id))
      assert.deepEqual(await users.remove(id), { id, type: 'user_deleted' })
      await assert.rejects(users.retrieve(id), NotFoundError)
      const ada = found.data[0]?.id ?? ''
      await assert.rejects(users.update(ada, { role: 'user' }), ConflictError)
    })

    verifies('organization/members', 'members of the workspace are seen and changed', async () => {
      const { members } = organization().workspaces
      const id = await invited('eve@example.com', 'user')
      const of = { workspace_id: workspace }
      assert.equal((await members.retrieve(id, of)).workspace_role, 'workspace_user')
      const changed = await members.update(id, { ...of, workspace_role: 'workspace_developer' })
      assert.equal(changed.workspace_role, 'workspace_developer')
      const listed: string[] = []
      for await (const member of members.list(workspace)) listed.push(member.user_id)
      assert.ok(listed.includes(id))
      const again = { user_id: id, workspace_role: 'workspace_user' } as const
      assert.equal((await members.add(workspace, again)).workspace_role, 'workspace_user')
      const nobody = { ...again, user_id: 'user_of_nobody' }
      await assert.rejects(members.add(workspace, nobody), NotFoundError)
      await assert.rejects(members.list('wrkspc_another'), NotFoundError)
      assert.deepEqual(await members.remove(id, of), {
        ...{ type: 'workspace_member_deleted', user_id: id, workspace_id: workspace },
      })
      await assert.rejects(members.retrieve(id, of), NotFoundError)
      const byOwner = await owner.ask('GET', '/v1/organizations/users')
      assert.equal(byOwner.status, 200)
    })

    verifies(
      'organization/webhooks',
      'endpoints are the same as those of the extension',
      async () => {
        const { webhooks } = organization()
        const url = 'https://hooks.example.com/a'
        const made = await service.ask<{ id: string; signing_secret: string }>(
          'POST',
          '/v1/organizations/webhooks',
          { url, enabled_events: ['session.idled'], name: 'nightly' },
        )
        assert.equal(made.status, 200, JSON.stringify(made.body))
        const { id, signing_secret } = made.body
        const shown = await webhooks.retrieve(id)
        assert.deepEqual([shown.url, shown.name, shown.state], [url, 'nightly', 'enabled'])
        assert.ok(!('signing_secret' in shown))
        const extension = await service.ask('GET', `/v1/ext/webhook_endpoints/${id}`)
        assert.deepEqual(extension.body['enabled_events'], ['session.idled'])
        assert.equal((await webhooks.update(id, { state: 'disabled' })).disabled_reason, 'request')
        const fresh = await webhooks.regenerateSigningSecret(id)
        assert.notEqual(fresh.signing_secret, signing_secret)
        const ids: string[] = []
        for await (const each of webhooks.list({ limit: 1 })) ids.push(each.id)
        assert.deepEqual(ids, [id])
        const storage = webhooks.create({ url, enabled_events: ['external_storage.failed'] })
        await assert.rejects(storage, /external_storage\.failed is sent by nothing in this service/)
        assert.deepEqual(await webhooks.delete(id), { id, type: 'webhook_endpoint_deleted' })
        await assert.rejects(webhooks.retrieve(id), NotFoundError)
      },
    )

    verifies('usage/reports/analytics', 'the reports that the client asks for', async () => {
      await turn(service, await newSession(service), 'say: hello')
      const { analytics } = organization()
      const starting_at = new Date(Date.now() - 3_600_000).toISOString()
      const asked = { starting_at, bucket_width: '1h', group_by: ['model'] } as const
      const query = { ...asked, group_by: [...asked.group_by] }
      const used = await analytics.usageReport.list(query)
      const results = used.data.flatMap((bucket) => bucket.results)
      assert.equal(results[0]?.model, 'offline')
      assert.ok(Number(results[0]?.requests) >= 1 && results[0]?.product === null)
      const costs = await analytics.costReport.list(query)
      const [cost] = costs.data.flatMap((bucket) => bucket.results)
      assert.deepEqual([cost?.currency, cost?.list_amount], ['USD', cost?.amount])
      const filtered = analytics.usageReport.list({ starting_at, products: ['api'] as never })
      await assert.rejects(filtered, /products: is no filter of this service/)
    })

    verifies(
      [
        'organization/unoffered',
        'organization/workspaces/rename',
        'organization/workspaces/constants',
      ],
      'areas that are not here are refused by their names, and fields may be omitted',
      async () => {
        for (const [path, words] of [
          ['/v1/organizations/external_storage', /storage elsewhere is not offered/],
          [
            '/v1/organizations/service_accounts',
            /administration of service accounts is not offered/,
          ],
          ['/v1/compliance/review/cases', /review of compliance is not offered/],
        ] as const) {
          const { status, body } = await service.ask('GET', path)
          assert.equal(status, 404)
          assert.match(JSON.stringify(body), words)
        }
        const kept = await organization().workspaces.update(workspace, {})
        assert.equal(kept.id, workspace)
        assert.equal(typeof kept.compartment_id, 'string')
        assert.equal(kept.data_residency.default_inference_geo, 'global')
      },
    )
  })
}
