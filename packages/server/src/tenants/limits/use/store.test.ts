import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { jsonLog } from '@steward/base/log.ts'
import { systemClock } from '@steward/base/time.ts'
import type { Database, Queries } from '../../../ground/database/database.ts'
import { databases } from '../../../ground/database/fixture.ts'
import type { Tables } from '../../../ground/database/tables.ts'
import { testGround } from '../../../ground/ground-fixture.ts'
import type { ServerQuotas } from '../effective-limits.ts'
import { limitsFor } from '../limits.ts'
import { workspaceLimitStore } from '../store.ts'
import { quotaUseStore } from './store.ts'

const [tenant, other] = ['wrkspc_a', 'wrkspc_b']
const at = '2030-01-01T00:00:00.000Z'

const fileOf = (id: string, bytes: number, blob = id): Tables['files'] => ({
  ...{ tenant_id: tenant, id, session_id: null, origin: 'upload', filename: 'a' },
  ...{ mime_type: 'text/plain', size_bytes: bytes, sha256: '', blob_key: blob, downloadable: 1 },
  ...{ expires_at: null, created_at: at },
})

const put = (tx: Queries, file: Tables['files']) => tx.insertInto('files').values(file).execute()
const drop = (tx: Queries, id: string) => tx.deleteFrom('files').where('id', '=', id).execute()
const letGo = (tx: Queries, id: string) =>
  tx.updateTable('files').set({ blob_key: null }).where('id', '=', id).execute()

const storedIn = ({ read }: Database) => quotaUseStore(read).used(tenant, 'stored_bytes')

/** Asserts that the counters of the triggers equal a new count. */
async function assertCounted(database: Database, expected: number): Promise<void> {
  assert.equal(await storedIn(database), expected)
  await database.write((tx) => quotaUseStore(tx).recount(tenant))
  assert.equal(await storedIn(database), expected)
}

function quotasIn(database: Database, server: ServerQuotas = {}, clock = systemClock) {
  const deps = testGround(database, { clock })
  return limitsFor('off', { ...deps, log: jsonLog(() => {}) }, server).quotas
}

for (const [kind, open] of Object.entries(databases))
  void describe(`the quota use of a workspace, on ${kind}`, () => {
    void it('counts a blob once, from its first file to its last', async () => {
      await using opened = await open()
      const { database } = opened
      await database.write((tx) => put(tx, fileOf('one', 10, 'shared')))
      await database.write((tx) => put(tx, fileOf('two', 10, 'shared')))
      await database.write((tx) => put(tx, fileOf('three', 5)))
      await assertCounted(database, 15)
      await database.write((tx) => drop(tx, 'one'))
      await assertCounted(database, 15)
      await database.write((tx) => letGo(tx, 'two'))
      await database.write((tx) => drop(tx, 'two'))
      await assertCounted(database, 5)
      const undone = database.write(async (tx) => {
        await put(tx, fileOf('four', 100))
        throw new Error('taken back')
      })
      await assert.rejects(undone, /taken back/)
      await assertCounted(database, 5)
      assert.equal(await quotaUseStore(database.read).used(other, 'stored_bytes'), 0)
    })

    void it('loses no byte when files of one blob go at the same time', async () => {
      await using opened = await open()
      const { database } = opened
      const ids = Array.from({ length: 8 }, (_, n) => `file${n}`)
      await database.write(async (tx) => {
        for (const id of ids) await put(tx, fileOf(id, 10, 'shared'))
      })
      await assertCounted(database, 10)
      await Promise.all(ids.map((id) => database.write((tx) => drop(tx, id))))
      await assertCounted(database, 0)
    })

    void it('counts versions of skills, and memories by what they hold now', async () => {
      await using opened = await open()
      const { database } = opened
      const skill = (id: string): Tables['skill_versions'] => ({
        ...{ tenant_id: tenant, skill_id: 'skill_1', id, name: 'a', description: '' },
        ...{ directory: 'a', size_bytes: 7, sha256: '', blob_key: id, created_at: at },
        files: '[]' as Tables['skill_versions']['files'],
      })
      const memory: Tables['memories'] = {
        ...{ tenant_id: tenant, id: 'mem_1', store_id: 'memstore_1', version_id: 'memver_1' },
        ...{ path: '/a', sha256: '', size: 3, created_at: at, updated_at: at, content: 'abc' },
      }
      await database.write(async (tx) => {
        for (const id of ['1', '2'])
          await tx.insertInto('skill_versions').values(skill(id)).execute()
        await tx.insertInto('memories').values(memory).execute()
      })
      await assertCounted(database, 17)
      await database.write(async (tx) => {
        await tx.updateTable('memories').set({ size: 40 }).execute()
        await tx.deleteFrom('skill_versions').where('id', '=', '1').execute()
      })
      await assertCounted(database, 47)
      await database.write((tx) => tx.deleteFrom('memories').execute())
      await assertCounted(database, 7)
    })

    void it('never passes a quota, however many changes come together', async () => {
      await using opened = await open()
      const { database } = opened
      const quotas = quotasIn(database, { stored_bytes: 100 })
      const upload = async (n: number) => {
        const checkRoom = await quotas.room(tenant, 'stored_bytes')
        await database.write(async (tx) => {
          await checkRoom(tx, 30)
          await put(tx, fileOf(`file${n}`, 30))
        })
      }
      const all = await Promise.allSettled(Array.from({ length: 16 }, (_, n) => upload(n)))
      assert.equal(all.filter(({ status }) => status === 'fulfilled').length, 3)
      const refused = all.find((each) => each.status === 'rejected')
      assert.match(
        String(refused?.reason),
        /quota stored_bytes of this workspace is 100: 90 are used, and this needs 30 more; delete files/,
      )
      await assertCounted(database, 90)
      await assert.rejects(upload(Number.MAX_SAFE_INTEGER), /storage_quota|90 are used/)
    })

    void it('counts agents exactly that come and go together, in far more transactions than wait beside the counter', async () => {
      await using opened = await open()
      const { database } = opened
      const agent = (id: string): Tables['agents'] => ({
        ...{
          tenant_id: tenant,
          id,
          version: 1,
          environment_id: null,
          config: '{}' as Tables['agents']['config'],
        },
        ...{ archived_at: null, created_at: at, updated_at: at },
      })
      const counted = () => quotaUseStore(database.read).used(tenant, 'agents')
      const ids = Array.from({ length: 600 }, (_, n) => `agent_${n}`)
      const changes = ids.map(async (id, n) => {
        await database.write((tx) => tx.insertInto('agents').values(agent(id)).execute())
        if (n % 3 === 0)
          await database.write((tx) =>
            tx.updateTable('agents').set({ archived_at: at }).where('id', '=', id).execute(),
          )
        if (n % 100 === 0) await database.write((tx) => quotaUseStore(tx).recount(tenant))
      })
      await Promise.all(changes)
      assert.equal(await counted(), 400)
      const waiting = await database.read.selectFrom('quota_changes').select('tx').execute()
      assert.ok(waiting.length < 600, `${waiting.length} changes are not in the counter`)
      const { agents } = await database.write((tx) => quotaUseStore(tx).recount(tenant))
      assert.equal(await counted(), 400)
      assert.equal(agents, 400)
    })

    void it('counts the sessions of a day, to its end', async () => {
      await using opened = await open()
      const { database } = opened
      let now = Date.parse('2030-01-01T23:59:59Z')
      const clock = { ...systemClock, now: () => now }
      const quotas = quotasIn(database, { sessions_daily: 2 }, clock)
      const create = async () => database.write(await quotas.daily(tenant))
      const all = await Promise.allSettled([1, 2, 3, 4].map(create))
      assert.equal(all.filter(({ status }) => status === 'fulfilled').length, 2)
      await assert.rejects(create(), /create sessions again from 2030-01-02T00:00:00/)
      now += 1_000
      await create()
      const rows = await database.read.selectFrom('quota_use').select(['period', 'used']).execute()
      assert.deepEqual(
        rows.map(({ period, used }) => [period, used]),
        [['2030-01-02', 1]],
      )
    })

    void it('is held by the operator above the workspace, and by both within the server', async () => {
      await using opened = await open()
      const { database } = opened
      const set = (source: 'operator' | 'workspace', name: string, value: number) =>
        database.write((tx) =>
          workspaceLimitStore(tx).set(tenant, { name, source, value, period_ms: 0 }, 0),
        )
      await set('workspace', 'agents', 50)
      await set('operator', 'agents', 5)
      await set('operator', 'stored_bytes', 1_000)
      await set('operator', 'streams', 1_000)
      await set('workspace', 'streams', 3)
      const quotas = quotasIn(database, { stored_bytes: 100, streams: 80, tunnels: 9 })
      const held = async (
        name: 'agents' | 'stored_bytes' | 'streams' | 'tunnels' | 'sandboxes',
      ) => {
        const { value, source } = await quotas.held(tenant, name)
        return [value, source]
      }
      assert.deepEqual(await held('agents'), [5, 'operator'])
      assert.deepEqual(await held('stored_bytes'), [1_000, 'operator'])
      assert.deepEqual(await held('streams'), [3, 'workspace'])
      assert.deepEqual(await held('tunnels'), [9, 'server'])
      assert.deepEqual(await held('sandboxes'), [null, 'server'])
    })
  })
