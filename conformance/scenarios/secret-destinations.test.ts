/** A key without admin cannot read a secret back by changing where it goes. */
import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { anthropicDialect } from '@steward/model/stubs/stub-anthropic.ts'
import type { StubModel } from '@steward/model/stubs/stub-server.ts'
import { startStub } from '@steward/model/stubs/stub-server.ts'
import type { LooseBody, TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { fresh } from '../turns.ts'
import { verifies } from '../verifies.ts'

const secret = 'sk-canary-0123456789abcdef'
const header = 'canary-header-0123456789'

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`where secrets go on ${database}`, () => {
    let service: TestService
    let [own, other]: [StubModel?, StubModel?] = []
    let plain: Record<string, string>
    before(async () => {
      service = await boot(database)
      own = await startStub(anthropicDialect)
      other = await startStub(anthropicDialect)
      // The service tests each card when it is written. Without an answer a test takes six seconds.
      for (const stub of [own, other])
        stub.replies({ blocks: [{ type: 'text', pieces: ['OK'] }], stop: 'end_turn' })
      const made = await service.ask<{ key: string }>('POST', '/v1/ext/api_keys', { name: 'n' })
      plain = { 'x-api-key': made.body.key }
    })
    after(async () => {
      await service.close()
      await own?.[Symbol.asyncDispose]()
      await other?.[Symbol.asyncDispose]()
    })
    const messageOf = (body: LooseBody) => String((body['error'] as LooseBody)['message'])
    const changesOf = async (query: string) =>
      (await service.ask('GET', `/v1/ext/audit/credential_changes?${query}`)).body.data

    async function makeCard(): Promise<string> {
      const made = await service.ask('POST', '/v1/ext/model_cards', {
        model_id: fresh('card').replace(' ', '-'),
        provider: 'ant-compatible',
        model: 'stub-1',
        base_url: own?.url,
        api_key: secret,
        custom_headers: { 'x-extra': header },
      })
      assert.equal(made.status, 200)
      return `/v1/ext/model_cards/${made.body.id}`
    }

    verifies(
      'model-cards/update/destination',
      'a key without admin sends no stored key to another endpoint, and may give it anew',
      async () => {
        const card = await makeCard()
        const base_url = other?.url
        for (const body of [
          { base_url },
          { base_url, api_key: 'sk-of-the-caller-0123' },
          { base_url, custom_headers: { 'x-extra': 'of the caller' } },
        ]) {
          const refused = await service.ask('POST', card, body, plain)
          assert.equal(refused.status, 403)
          assert.match(messageOf(refused.body), /^base_url: .* again in the same request/)
        }
        assert.equal(other?.requests.length, 0)
        for (const body of [{ base_url: `${own?.url}/` }, { model: 'stub-2' }, { api_key: secret }])
          assert.equal((await service.ask('POST', card, body, plain)).status, 200)
        const anew = { base_url, api_key: 'sk-of-the-caller-0123', custom_headers: null }
        assert.equal((await service.ask('POST', card, anew, plain)).status, 200)
        const seen = JSON.stringify(other?.requests)
        assert.ok(seen.includes('sk-of-the-caller-0123'))
        assert.ok(!seen.includes(secret) && !seen.includes(header))
        const away = await service.ask('POST', card, { model: 'x/../../other' }, plain)
        assert.equal(away.status, 400)
        assert.match(messageOf(away.body), /^model: /)
      },
    )

    verifies(
      ['audit/changes/redirected', 'audit/narrowed'],
      "an admin's change of an endpoint is on record, and names the key",
      async () => {
        const card = await makeCard()
        const moved = await service.ask('POST', card, { base_url: other?.url })
        assert.equal(moved.status, 200)
        const changes = await changesOf(`model_card_id=${moved.body.id}`)
        assert.deepEqual(
          changes.map(({ change, vault_id, model_card_id }) => [change, vault_id, model_card_id]),
          [['model_card.redirected', null, moved.body.id]],
        )
        const [first] = (await service.ask('GET', '/v1/ext/api_keys')).body.data.filter(
          ({ admin }) => admin,
        )
        assert.equal(changes[0]?.['api_key_id'], first?.id)
      },
    )

    verifies(
      ['credentials/destination', 'audit/changes/redirected'],
      'a key without admin widens no credential without its secret, and narrows it freely',
      async () => {
        const vault = await service.client.beta.vaults.create({ display_name: fresh('v') })
        const path = `/v1/vaults/${vault.id}/credentials`
        const make = async (auth: object) =>
          `${path}/${(await service.ask('POST', path, { auth }, plain)).body.id}`
        const variable = await make({
          type: 'environment_variable',
          secret_name: 'A_KEY',
          secret_value: secret,
          networking: { type: 'limited', allowed_hosts: ['*.example.com'] },
          injection_location: { header: true },
        })
        const command = await make({
          type: 'command_secret',
          env_var: 'B_KEY',
          token: secret,
          command_prefixes: ['git push'],
        })
        const update = (at: string, auth: object, headers?: typeof plain) =>
          service.ask('POST', at, { auth }, headers)
        const type = 'environment_variable'
        const limited = (...allowed_hosts: string[]) => ({
          ...{ type, networking: { type: 'limited', allowed_hosts } },
        })
        const wider: [at: string, auth: object, field: string][] = [
          [variable, limited('*.example.com', 'evil.test'), 'networking'],
          [variable, { type, networking: { type: 'unrestricted' } }, 'networking'],
          [variable, { type, injection_location: { body: true } }, 'injection_location'],
          [command, { type: 'command_secret', command_prefixes: [] }, 'command_prefixes'],
        ]
        for (const [at, auth, field] of wider) {
          const refused = await update(at, auth, plain)
          assert.equal(refused.status, 403)
          assert.match(messageOf(refused.body), new RegExp(`^auth\\.${field}: `))
          assert.ok(!messageOf(refused.body).includes(secret))
        }
        for (const auth of [
          limited('a.example.com'),
          { ...limited('b.test'), secret_value: secret },
        ])
          assert.equal((await update(variable, auth, plain)).status, 200)
        const [at, auth] = wider[3] ?? ['', {}]
        assert.equal((await update(at, { ...auth, token: secret }, plain)).status, 200)
        assert.equal((await update(variable, limited('c.test'))).status, 200)
        const [last] = await changesOf(`credential_id=${variable.split('/').at(-1)}&limit=1`)
        assert.equal(last?.['change'], 'credential.redirected')
      },
    )
  })
}
