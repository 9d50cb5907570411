import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Database } from '../../ground/database/database.ts'
import { oneDatabase } from '../../ground/database/database.ts'
import { databases } from '../../ground/database/fixture.ts'
import { leaseMs } from '../../ground/database/lease.ts'
import { buildLocks } from './store.ts'

const [tenant, layer] = ['wrkspc_1', 'a-layer']

/** As another process of the same database has them, alive or not. */
function locksOf(database: Database, self: string, dead: readonly string[] = []) {
  const owners = {
    self,
    dead: async (asked: readonly string[]) => asked.filter((each) => dead.includes(each)),
  }
  return buildLocks(
    oneDatabase({
      ...database,
      read: database.read,
      write: (unit) => database.write(unit),
      once: (statement) => database.once(statement),
      owners,
    }),
  )
}

for (const [dialect, open] of Object.entries(databases)) {
  describe(`who builds a layer, on ${dialect}`, () => {
    it('is one of many who ask at once, until it lets go', async () => {
      await using opened = await open()
      const all = Array.from({ length: 8 }, (_, n) => locksOf(opened.database, `proc_${n}`))
      const claims = await Promise.all(all.map((locks) => locks.claim(tenant, layer, 0)))
      assert.equal(claims.filter(Boolean).length, 1)
      const winner = all[claims.indexOf(true)]
      const [loser] = all.filter((each) => each !== winner)
      await loser?.release(tenant, layer)
      assert.equal(await loser?.claim(tenant, layer, 0), false)
      assert.equal(await loser?.claim('wrkspc_2', layer, 0), true)
      await winner?.release(tenant, layer)
      assert.equal(await loser?.claim(tenant, layer, 0), true)
    })

    it('is another when the first one is dead, or has not been heard of', async () => {
      await using opened = await open()
      const first = locksOf(opened.database, 'proc_a')
      assert.ok(await first.claim(tenant, layer, 0))
      assert.equal(await locksOf(opened.database, 'proc_b').claim(tenant, layer, leaseMs), false)
      await first.prolong(tenant, layer, 1000)
      const late = 1001 + leaseMs
      assert.equal(await locksOf(opened.database, 'proc_b').claim(tenant, layer, late - 1), false)
      assert.ok(await locksOf(opened.database, 'proc_b').claim(tenant, layer, late))
      assert.ok(await locksOf(opened.database, 'proc_c', ['proc_b']).claim(tenant, layer, late))
      await first.release(tenant, layer)
      assert.equal(await locksOf(opened.database, 'proc_a').claim(tenant, layer, late), false)
    })
  })
}
