import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { iso } from '@steward/base/time.ts'
import { StorageError } from '../../../ground/core/errors.ts'
import { newId } from '../../../ground/core/text/ids.ts'
import type { Database } from '../../../ground/database/database.ts'
import { oneDatabase } from '../../../ground/database/database.ts'
import { databases } from '../../../ground/database/fixture.ts'
import { checkNoMark, checkNotHeld, checkNothingHeld } from '../../../ground/database/holds.ts'
import { testGround } from '../../../ground/ground-fixture.ts'
import { makeHold, releaseHold } from './holds.ts'

const tenant = 'wrkspc_test'
const whole = { scope: { type: 'workspace' }, reason: 'case 4711' } as const

async function opened(open: (typeof databases)['sqlite']) {
  const at = await open()
  const { database } = at
  await database.write((tx) =>
    tx
      .insertInto('workspaces')
      .values({ id: tenant, name: 'one', archived_at: null, deleted_at: null, created_at: iso(0) })
      .execute(),
  )
  return { ...at, ground: testGround(database), [Symbol.asyncDispose]: at[Symbol.asyncDispose] }
}

/** The control database dies before its next write; that of the tenant lives. */
const withDeadControl = (database: Database) => ({
  ...oneDatabase({
    ...database,
    write: () => Promise.reject(new StorageError('away', new Error('killed'))),
  }),
  open: async () => database,
})

for (const [dialect, open] of Object.entries(databases)) {
  describe(`holds on ${dialect}`, () => {
    it('keep the workspace after a crash between the row and its mark, and go with one release', async () => {
      await using at = await opened(open)
      const { database, ground } = at
      const dying = { ...ground, databases: withDeadControl(database) }
      await assert.rejects(makeHold(dying, tenant, whole), StorageError)
      await assert.rejects(checkNothingHeld(database.read, tenant), /is kept by the hold/)
      const [{ id } = { id: '' }] = await database.read.selectFrom('holds').select('id').execute()
      await releaseHold(ground, tenant, id)
      await checkNothingHeld(database.read, tenant)
    })

    it('release a mark that a crash has left when they are released once more', async () => {
      await using at = await opened(open)
      const { database, ground } = at
      const { id } = await makeHold(ground, tenant, whole)
      const dying = { ...ground, databases: withDeadControl(database) }
      await assert.rejects(releaseHold(dying, tenant, id), StorageError)
      const check = () => database.write((tx) => checkNoMark(tx, 'the workspace', { tenant }))
      await assert.rejects(check(), new RegExp(id))
      await releaseHold(ground, tenant, id)
      await check()
    })

    it('are refused for what is not in the workspace', async () => {
      await using at = await opened(open)
      const session_id = newId('session')
      for (const scope of [
        { type: 'session', session_id },
        { type: 'person', person_id: 'user_1' },
      ] as const)
        await assert.rejects(makeHold(at.ground, tenant, { scope, reason: 'r' }), {
          kind: 'not_found',
        })
      await assert.rejects(releaseHold(at.ground, tenant, 'hold_1'), { kind: 'not_found' })
    })
  })
}

/** SQLite has one writer. */
describe('holds beside removals on Postgres', () => {
  // verifies: holds/race
  it('wait for a removal that is under way, and keep what a later one would remove', async () => {
    await using at = await opened(databases.postgres)
    const { database, ground } = at
    const [looked, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const order: string[] = []
    const removing = database.write(async (tx) => {
      await checkNotHeld(tx, tenant, 'file file_1')
      looked.resolve()
      await mayEnd.promise
      await tx.deleteFrom('files').where('tenant_id', '=', tenant).execute()
      order.push('removed')
    })
    await looked.promise
    const holding = makeHold(ground, tenant, whole).then(() => order.push('held'))
    await new Promise((resolve) => setTimeout(resolve, 100))
    mayEnd.resolve()
    await Promise.all([removing, holding])
    assert.deepEqual(order, ['removed', 'held'])
    await assert.rejects(
      database.write((tx) => checkNotHeld(tx, tenant, 'file file_1')),
      /^Error: file file_1 is kept by the hold hold_/,
    )
  })

  it('let removals run beside each other', async () => {
    await using at = await opened(databases.postgres)
    const both = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const
    const removal = (mine: 0 | 1) =>
      at.database.write(async (tx) => {
        await checkNotHeld(tx, tenant, 'file file_1')
        both[mine].resolve()
        await both[mine === 0 ? 1 : 0].promise
      })
    await Promise.all([removal(0), removal(1)])
  })
})
