import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { iso } from '@steward/base/time.ts'
import { StorageError } from '../../ground/core/errors.ts'
import type { Database } from '../../ground/database/database.ts'
import { databases } from '../../ground/database/fixture.ts'
import { testGround } from '../../ground/ground-fixture.ts'
import { dyingDatabase, newSession } from '../../sessions/fixture.ts'
import { personRemovalStore } from '../../tenants/people/removals.ts'
import { removeNames } from './job.ts'

const [first, second] = ['wrkspc_a', 'wrkspc_b']
const person = 'user_gone'

async function opened(open: (typeof databases)['sqlite']) {
  const at = await open()
  const { database } = at
  for (const id of [first, second])
    await database.write((tx) =>
      tx
        .insertInto('workspaces')
        .values({ id, name: id, archived_at: null, deleted_at: null, created_at: iso(0) })
        .execute(),
    )
  const made = async (tenant: string, by: string) => {
    const id = await newSession(database, 'idle', tenant)
    const set = { creator_type: 'user', creator_id: by, creator_name: `Ada <${by}>` }
    await database.write((tx) => tx.updateTable('sessions').set(set).where('id', '=', id).execute())
    return id
  }
  return { ...at, made, [Symbol.asyncDispose]: at[Symbol.asyncDispose] }
}

const named = async (database: Database) => {
  const rows = await database.read
    .selectFrom('sessions')
    .select(['creator_id', 'creator_name'])
    .where('creator_name', 'is not', null)
    .execute()
  return rows.map(({ creator_id }) => creator_id)
}

for (const [dialect, open] of Object.entries(databases)) {
  describe(`names of deleted people on ${dialect}`, () => {
    it('go from all workspaces, and those of others stay, after a kill at any write', async () => {
      for (let last = 1; last <= 8; last++) {
        await using at = await opened(open)
        const { database } = at
        for (const tenant of [first, second]) await at.made(tenant, person)
        await at.made(first, 'user_other')
        await database.write((tx) => personRemovalStore(tx).ask(person, 0))
        await removeNames(testGround(dyingDatabase(database, last)))().catch((error: unknown) => {
          assert.ok(error instanceof StorageError || error instanceof AggregateError)
        })
        assert.equal(await removeNames(testGround(database))(), true)
        assert.deepEqual(await named(database), ['user_other'])
        const lines = await database.read
          .selectFrom('audit_lines')
          .select(['tenant_id', 'resource_id'])
          .where('action', '=', 'user.remove_names')
          .execute()
        assert.deepEqual(
          lines.map((line) => [line.tenant_id, line.resource_id]),
          [['', person]],
        )
      }
    })

    it('go from more rows than one unit changes', async () => {
      await using at = await opened(open)
      const { database } = at
      for (let count = 0; count < 251; count++) await at.made(first, person)
      await database.write((tx) => personRemovalStore(tx).ask(person, 0))
      await removeNames(testGround(database))()
      assert.deepEqual(await named(database), [])
    })
  })
}
