import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type { BadRequestError } from '@anthropic-ai/sdk'
import { ConflictError, NotFoundError } from '@anthropic-ai/sdk'
import type { LooseBody, TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { fresh } from '../turns.ts'
import { verifies } from '../verifies.ts'

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`environments on ${database}`, () => {
    let service: TestService
    before(async () => void (service = await boot(database)))
    after(() => service.close())
    const environments = () => service.client.beta.environments
    const make = async (more: object = {}) =>
      (await service.ask('POST', '/v1/environments', { name: fresh('env'), ...more })).body
    const refused = async (more: object, words: RegExp) => {
      const body = { name: fresh('env'), ...more }
      const answer = await service.ask('POST', '/v1/environments', body)
      assert.equal(answer.status, 400)
      assert.match(JSON.stringify(answer.body), words)
    }

    verifies(
      [
        'environments/create',
        'environments/get',
        'environments/field/id',
        'environments/field/description',
        'environments/field/env',
        'environments/field/metadata',
        'environments/field/times',
        'environments/field/base-image',
        'service/environments/template',
      ],
      'an environment keeps what it was given',
      async () => {
        const given = {
          description: 'for trials',
          base_image: 'debian:13',
          env: { COLOUR: 'red' },
          metadata: { team: 'blue' },
          scope: 'account',
        }
        const made = await make(given)
        for (const [name, value] of Object.entries(given)) assert.deepEqual(made[name], value)
        assert.match(made.id, /^env_/)
        assert.equal(made['type'], 'environment')
        assert.equal(made['archived_at'], null)
        assert.equal(made['created_at'], made['updated_at'])
        assert.deepEqual((await service.ask('GET', `/v1/environments/${made.id}`)).body, made)
        assert.equal((await make({ description: null }))['description'], null)
        await refused({ env: { 'no-variable': 'x' } }, /env/)
        await refused({ env: { COLOUR: 'red\0' } }, /env\.COLOUR.*NUL/)
        await refused({ scope: 'planet' }, /scope/)
      },
    )

    verifies(
      ['environments/field/name', 'environments/list'],
      'names are unique, and the list shows an environment under its name',
      async () => {
        const { name, id } = await environments().create({ name: fresh('only one') })
        await assert.rejects(environments().create({ name }), ConflictError)
        const names = []
        for await (const each of environments().list({ limit: 1 })) names.push(each.name)
        assert.equal(names.filter((each) => each === name).length, 1)
        assert.equal((await environments().retrieve(id)).name, name)
        const other = await environments().create({ name: fresh('other') })
        await assert.rejects(environments().update(other.id, { name }), ConflictError)
        await refused({ name: '' }, /name/)
      },
    )

    verifies(
      ['environments/archive/name-freed', 'environments/field/description'],
      'an archived environment frees its name, and an empty description stays empty',
      async () => {
        const name = fresh('reused')
        for (let round = 0; round < 3; round++) {
          const { id, description } = await environments().create({ name, description: '' })
          assert.equal(description, '')
          await assert.rejects(environments().create({ name }), ConflictError)
          const archived = await environments().archive(id)
          assert.equal(archived.name, name)
        }
      },
    )

    verifies(
      'environments/update/no-op',
      'an answer that is sent back changes nothing',
      async () => {
        const made = await environments().create({
          name: fresh('same'),
          config: { type: 'cloud', packages: { pip: ['rich'] } },
          metadata: { b: '1', a: '2' },
        })
        const { name, description, config } = made
        const packages = Object.fromEntries(
          Object.entries((config as { packages: object }).packages).toReversed(),
        )
        const sent = {
          name,
          description,
          metadata: { a: '2', b: '1' },
          config: { ...config, packages },
        }
        const answer = await service.client.post(`/v1/environments/${made.id}`, { body: sent })
        assert.equal((answer as typeof made).updated_at, made.updated_at)
      },
    )

    verifies(
      [
        'environments/two-spellings',
        'environments/field/network',
        'environments/field/packages',
        'environments/field/config',
        'environments/field/allow-mcp-servers',
        'dialects/superset',
        'dialects/input-both',
      ],
      'either spelling of network and packages is shown in both',
      async () => {
        const ours = await make({
          network: { allowlist: ['example.com', '*.example.org'], denylist: ['evil.example.org'] },
          packages: { pip: ['rich'] },
          allow_mcp_servers: true,
        })
        const packages = { apt: [], cargo: [], gem: [], go: [], npm: [], pip: ['rich'] }
        assert.deepEqual(ours['config'], {
          type: 'cloud',
          networking: {
            type: 'limited',
            allowed_hosts: ['example.com', '*.example.org'],
            allow_mcp_servers: true,
            allow_package_managers: false,
          },
          packages: { type: 'packages', ...packages },
        })
        const theirs = await environments().create({
          name: fresh('theirs'),
          config: {
            type: 'cloud',
            networking: {
              type: 'limited',
              allowed_hosts: ['example.com'],
              allow_mcp_servers: true,
              allow_package_managers: true,
            },
            packages: { npm: ['left-pad'] },
          },
        })
        const shown = (await service.ask('GET', `/v1/environments/${theirs.id}`)).body
        assert.deepEqual(shown['network'], { allowlist: ['example.com'], denylist: [] })
        assert.deepEqual((shown['packages'] as LooseBody)['npm'], ['left-pad'])
        assert.equal(shown['allow_mcp_servers'], true)
        const pool = await make({ config: { type: 'self_hosted' } })
        assert.deepEqual(pool['config'], { type: 'self_hosted' })
      },
    )

    verifies('environments/hosts', 'a host has no scheme, port or path', async () => {
      for (const host of ['https://example.com', 'example.com:443', 'example.com/x', '*', 'a b']) {
        await refused({ network: { allowlist: [host] } }, /allowlist/)
      }
      const networking = { type: 'limited', allowed_hosts: ['http://x.example'] }
      await refused({ config: { type: 'cloud', networking } }, /allowed_hosts/)
    })

    verifies(
      'environments/config/host-keys',
      "config refuses the keys of the operator's host by name",
      async () => {
        for (const key of ['sandbox_provider', 'volumes', 'checkpoints', 'outputs', 'retention']) {
          await refused({ config: { type: 'cloud', [key]: {} } }, new RegExp(key))
        }
      },
    )

    verifies(
      ['environments/update', 'metadata/patch', 'dialects/update-verbs'],
      'an update changes what it names, and keeps the rest, inside config too',
      async () => {
        const made = await make({
          description: 'before',
          config: {
            type: 'cloud',
            networking: { type: 'limited', allowed_hosts: ['example.com'] },
            packages: { pip: ['rich'], npm: ['left-pad'] },
          },
          metadata: { a: '1', b: '2' },
        })
        const patched = await service.ask('PATCH', `/v1/environments/${made.id}`, {
          config: { type: 'cloud', packages: { npm: [] } },
          metadata: { a: null, c: '3' },
        })
        assert.equal(patched.body['description'], 'before')
        assert.deepEqual(patched.body['metadata'], { b: '2', c: '3' })
        const packages = patched.body['packages'] as LooseBody
        assert.deepEqual([packages['pip'], packages['npm']], [['rich'], []])
        assert.deepEqual((patched.body['network'] as LooseBody)['allowlist'], ['example.com'])
        const posted = await environments().update(made.id, { description: '' })
        assert.equal(posted.description, '')
        const cleared = await environments().update(made.id, { description: null })
        assert.equal(cleared.description, null)
      },
    )

    verifies('environments/update/type-fixed', 'the type of config cannot change', async () => {
      const { id } = await environments().create({ name: fresh('cloudy') })
      const change = environments().update(id, { config: { type: 'self_hosted' } })
      await assert.rejects(change, (error: BadRequestError) => {
        assert.equal(error.errorCode, 'invalid_config_type_change')
        return true
      })
    })

    verifies(
      ['environments/delete', 'environments/delete/agent-refers', 'errors/should-retry'],
      'an environment that an agent names cannot be deleted, and the client does not try again',
      async () => {
        const { id } = await environments().create({ name: fresh('named') })
        const agent = { name: 'n', model: 'offline', tools: [], environment_id: id }
        const { body } = await service.ask('POST', '/v1/agents', agent)
        let requests = 0
        const counting = service.client.withOptions({
          maxRetries: 2,
          fetch: (...request) => {
            requests += 1
            return fetch(...request)
          },
        })
        await assert.rejects(counting.beta.environments.delete(id), ConflictError)
        assert.equal(requests, 1)
        assert.equal((await environments().retrieve(id)).id, id)
        await service.ask('PATCH', `/v1/agents/${body.id}`, { environment_id: null })
        assert.deepEqual(
          { ...(await environments().delete(id)) },
          { id, type: 'environment_deleted' },
        )
        await assert.rejects(environments().retrieve(id), NotFoundError)
      },
    )

    verifies(
      ['environments/delete/session-refers', 'errors/case/environment-referenced'],
      'an environment of a session that lives cannot be deleted',
      async () => {
        const { beta } = service.client
        const agent = await beta.agents.create({ name: 'n', model: 'offline' })
        const { id } = await environments().create({ name: fresh('used') })
        const session = await beta.sessions.create({ agent: agent.id, environment_id: id })
        await assert.rejects(environments().delete(id), ConflictError)
        await beta.sessions.archive(session.id)
        await environments().delete(id)
      },
    )

    verifies(
      ['environments/archive', 'environments/archive/no-new-sessions', 'environments/list'],
      'an archived environment takes no session and no update, and its sessions go on',
      async () => {
        const { beta } = service.client
        const agent = await beta.agents.create({ name: 'n', model: 'offline' })
        const { id } = await environments().create({ name: fresh('archived') })
        const session = await beta.sessions.create({ agent: agent.id, environment_id: id })
        const archived = await environments().archive(id)
        assert.ok(archived.archived_at)
        const isArchived = (error: BadRequestError) => error.errorCode === 'environment_archived'
        const another = beta.sessions.create({ agent: agent.id, environment_id: id })
        await assert.rejects(another, isArchived)
        await assert.rejects(environments().update(id, { name: fresh('x') }), isArchived)
        assert.equal((await beta.sessions.retrieve(session.id)).status, 'idle')
        await beta.sessions.events.send(session.id, {
          events: [{ type: 'user.message', content: [{ type: 'text', text: 'say: x' }] }],
        })
        const found = async (query: object) => {
          const ids = []
          for await (const each of environments().list(query)) ids.push(each.id)
          return ids.includes(id)
        }
        assert.equal(await found({}), false)
        assert.equal(await found({ include_archived: true }), true)
      },
    )
  })
}
