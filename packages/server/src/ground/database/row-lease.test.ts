import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { movedClock } from '@steward/base/time-fixture.ts'
import { toJson } from '../core/text/json-text.ts'
import type { Database } from './database.ts'
import type { TestDatabase } from './fixture.ts'
import { everyShape } from './shapes-fixture.ts'
import type { RowLease } from './row-lease.ts'
import { leaseMs } from './lease.ts'
import { keepLease, rowLease } from './row-lease.ts'

const [tenant, id] = ['wrkspc_1', 'vcrd_1']

async function newCredential(database: Database): Promise<void> {
  const at = new Date(0).toISOString()
  await database.write((tx) =>
    tx
      .insertInto('vault_credentials')
      .values({
        ...{ tenant_id: tenant, vault_id: 'vlt_1', id, display_name: null },
        auth: toJson({ type: 'static_bearer', mcp_server_url: 'https://api.example/' }),
        ...{ binding: 'https://api.example/', sealed: toJson({}), metadata: toJson({}) },
        ...{ revision: 1, refresh_owner: null, refresh_until_ms: 0 },
        ...{ created_at: at, updated_at: at, archived_at: null },
      })
      .execute(),
  )
}

/** Opens the lease as another process of the same database does, whether that process lives or not. */
type Opens = (database: Database) => RowLease

const kinds: Record<string, { prepare?: (database: Database) => Promise<void>; opens: Opens }> = {
  'a row that is nothing else': {
    opens: (database) => rowLease(database, 'package_builds', { tenant_id: tenant, layer: 'a' }),
  },
  'the columns of a row': {
    prepare: newCredential,
    opens: (database) => rowLease(database, 'vault_credentials', { tenant_id: tenant, id }),
  },
}

async function leased(open: () => Promise<TestDatabase>, kind: keyof typeof kinds) {
  const opened = await open()
  const { database } = opened
  const { prepare, opens } = kinds[kind] ?? assert.fail()
  await prepare?.(database)
  return {
    database,
    of: (self: string, dead: readonly string[] = []): RowLease =>
      opens({
        dialect: database.dialect,
        read: database.read,
        write: (unit) => database.write(unit),
        writeStatement: (statement) => database.writeStatement(statement),
        close: () => database.close(),
        owners: { self, dead: async (asked) => asked.filter((each) => dead.includes(each)) },
      }),
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  }
}

for (const [dialect, open] of Object.entries(everyShape))
  for (const kind of Object.keys(kinds))
    describe(`a lease in ${kind}, on ${dialect}`, () => {
      it('is given to one of many who ask at once, until it is released', async () => {
        await using at = await leased(open, kind)
        const all = Array.from({ length: 8 }, (_, n) => at.of(`proc_${n}`))
        const claims = await Promise.all(all.map((each) => each.claim(0, leaseMs)))
        assert.equal(claims.filter(Boolean).length, 1)
        const winner = all[claims.indexOf(true)]
        const [loser] = all.filter((each) => each !== winner)
        await loser?.release()
        assert.equal(await loser?.claim(0, leaseMs), false, 'only who holds it gives it back')
        await winner?.release()
        assert.equal(await loser?.claim(0, leaseMs), true)
      })

      it('is given to another process when it has expired, and lasts longer when it is prolonged', async () => {
        await using at = await leased(open, kind)
        const [first, second] = [at.of('proc_a'), at.of('proc_b')]
        assert.ok(await first.claim(0, leaseMs))
        assert.equal(await second.claim(leaseMs - 1, leaseMs), false)
        assert.equal(await first.prolong(1000, leaseMs), true)
        const late = 1000 + leaseMs
        assert.equal(await second.claim(late - 1, leaseMs), false)
        assert.ok(await second.claim(late, leaseMs))
        assert.equal(await first.prolong(late, 2 * leaseMs), false)
        await first.release()
        assert.equal(await first.claim(late, leaseMs), false, 'what was lost stays lost')
        assert.ok(await first.claim(late + leaseMs, leaseMs))
      })

      it('is given to another process at once when its owner is dead', async () => {
        await using at = await leased(open, kind)
        assert.ok(await at.of('proc_a').claim(0, leaseMs))
        assert.equal(await at.of('proc_b', ['proc_x']).claim(0, leaseMs), false)
        assert.ok(await at.of('proc_b', ['proc_x', 'proc_a']).claim(0, leaseMs))
      })
    })

for (const [dialect, open] of Object.entries(everyShape))
  describe(`a lease on ${dialect}`, () => {
    it('is of one row: those of other tenants are others', async () => {
      await using opened = await open()
      const of = (tenant_id: string) =>
        rowLease(opened.database, 'package_builds', { tenant_id, layer: 'a' })
      assert.ok(await of('wrkspc_1').claim(0, leaseMs))
      assert.ok(await of('wrkspc_2').claim(0, leaseMs))
      await of('wrkspc_2').release()
      const rows = await opened.database.read.selectFrom('package_builds').selectAll().execute()
      assert.deepEqual(
        rows.map(({ tenant_id }) => tenant_id),
        ['wrkspc_1'],
      )
    })

    it('is not given where the row exists nowhere', async () => {
      await using opened = await open()
      const none = rowLease(opened.database, 'vault_credentials', { tenant_id: tenant, id })
      assert.equal(await none.claim(0, leaseMs), false)
    })
  })

describe('a lease that is kept', () => {
  it('is prolonged again while an earlier attempt has no answer, and no more once it has ended', async () => {
    const clock = movedClock()
    let attempts = 0
    const failures: unknown[] = []
    const silent = { prolong: () => new Promise<boolean>(() => attempts++) }
    const end = keepLease(silent, clock, (error) => failures.push(error))
    for (let beat = 0; beat < 3; beat++) await clock.pass(leaseMs / 3)
    assert.equal(attempts, 3)
    end()
    await clock.pass(leaseMs)
    assert.deepEqual([attempts, failures], [3, []])
  })

  it('reports an attempt that failed, and goes on', async () => {
    const clock = movedClock()
    const failures: unknown[] = []
    const broken = { prolong: () => Promise.reject(new Error('no connection')) }
    const end = keepLease(broken, clock, (error) => failures.push(error))
    for (let beat = 0; beat < 2; beat++) await clock.pass(leaseMs / 3)
    end()
    assert.equal(failures.length, 2)
  })

  it('reports another process that has taken the lease', async () => {
    const clock = movedClock()
    const failures: unknown[] = []
    const lost = { prolong: async () => false }
    const end = keepLease(lost, clock, (error) => failures.push(error))
    await clock.pass(leaseMs / 3)
    end()
    assert.match(String(failures), /another process has taken the lease/)
  })
})
