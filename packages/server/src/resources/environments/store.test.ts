import assert from 'node:assert/strict'
import { newId } from '../../ground/core/text/ids.ts'
import { describe, it } from 'node:test'
import { EnvironmentCreate } from '@steward/protocol/environments.ts'
import { buildAgentConfig } from '../agents/config.ts'
import { agentStore } from '../agents/store.ts'
import { createSeal } from '../../ground/core/security/seal.ts'
import { everyShape } from '../../ground/database/shapes-fixture.ts'
import { createSession } from '../../sessions/create.ts'
import { resourceKinds } from '../../sessions/resources/kinds.ts'
import { toEnvironmentRecord, updateRecord } from './record.ts'
import { environmentStore } from './store.ts'

const seal = createSeal('a root secret of a test')
const record = (input: object) =>
  toEnvironmentRecord(EnvironmentCreate.parse({ name: 'e', ...input }))

describe('an environment record', () => {
  it('is the same in both spellings', () => {
    const interfaceSpelling = record({
      network: { allowlist: ['api.example'] },
      packages: { npm: ['left-pad'] },
    })
    const clientSpelling = record({
      config: {
        type: 'cloud',
        networking: { type: 'limited', allowed_hosts: ['api.example'] },
        packages: { npm: ['left-pad'] },
      },
    })
    assert.deepEqual(clientSpelling, interfaceSpelling)
  })

  it('keeps the fields that an update omits, below config too', () => {
    const kept = record({
      config: { type: 'cloud', packages: { npm: ['a'], pip: ['b'] } },
      env: { A: '1' },
    })
    const next = updateRecord(kept, { config: { type: 'cloud', packages: { pip: [] } } })
    assert.deepEqual([next.packages.npm, next.packages.pip, next.env], [['a'], [], { A: '1' }])
  })

  it('does not open a network that was shut when it is written back, or when a host is denied', () => {
    const shut = record({ config: { type: 'cloud', networking: { type: 'limited' } } })
    assert.equal(shut.limited, true)
    const { allowlist, denylist } = shut
    assert.equal(updateRecord(shut, { network: { allowlist, denylist } }).limited, true)
    assert.equal(updateRecord(shut, { network: { denylist: ['a.example'] } }).limited, true)
    assert.equal(updateRecord(shut, { network: { allowlist: ['a.example'] } }).limited, true)
    assert.equal(updateRecord(shut, { network: null }).limited, false)
  })

  it('does not change its kind', () => {
    assert.throws(
      () => updateRecord(record({}), { config: { type: 'self_hosted' } }),
      /config.type/,
    )
  })
})

for (const [name, open] of Object.entries(everyShape)) {
  describe(`environments on ${name}`, () => {
    it('are never deleted under a session that is being made', async () => {
      await using testDatabase = await open()
      const { database } = testDatabase
      const agent = await database.write((tx) =>
        agentStore(tx).create(
          't',
          buildAgentConfig({ name: 'a', model: 'offline' }).config,
          {},
          Date.now(),
        ),
      )
      const kinds = resourceKinds({ seal, repositoryHosts: [], storeAccess: 'read_write' })
      for (let round = 0; round < 20; round++) {
        const { id } = await database.write((tx) =>
          environmentStore(tx).create('t', record({ name: `e${round}` }), Date.now()),
        )
        const [made] = await Promise.allSettled([
          database.write((tx) =>
            createSession(
              tx,
              't',
              { agent: agent.id, environment_id: id },
              {
                id: newId('session'),
                now: Date.now(),
                seal,
                kinds,
                refuseImage: () => undefined,
                refusePackages: () => undefined,
                workerInputs: [],
              },
            ),
          ),
          database.write((tx) => environmentStore(tx).remove('t', id, 0)),
        ])
        const left = await environmentStore(database.read)
          .get('t', id)
          .catch(() => undefined)
        assert.equal(made.status === 'fulfilled', left !== undefined)
      }
    })

    it('have names of their own in a workspace, and share them across workspaces', async () => {
      await using testDatabase = await open()
      const create = (tenant: string) =>
        testDatabase.database.write((tx) =>
          environmentStore(tx).create(tenant, record({}), Date.now()),
        )
      await create('t')
      await assert.rejects(create('t'), { kind: 'conflict' })
      await create('other')
      const racing = await Promise.allSettled(Array.from({ length: 6 }, () => create('third')))
      assert.equal(racing.filter(({ status }) => status === 'fulfilled').length, 1)
      for (const each of racing)
        if (each.status === 'rejected') assert.equal(each.reason.kind, 'conflict')
    })
  })
}
