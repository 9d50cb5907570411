import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseObject } from '@steward/base/json-object.ts'
import type { Sealed } from '../../../ground/core/security/seal.ts'
import { databases } from '../../../ground/database/fixture.ts'
import { testGround } from '../../../ground/ground-fixture.ts'
import { grantContext, groupStore } from './store.ts'

/** SQLite has one writer. */
describe('grants of a provider on Postgres', () => {
  it('can be opened after two first sign-ins of a person at once', async () => {
    await using at = await databases.postgres()
    const { database } = at
    const { seal } = testGround(database)
    const [isPut, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const signIn = (access: string, between: () => Promise<void>) =>
      database.write(async (tx) => {
        const of = { person: 'user_1', provider: 'okta', subject: 'ada', tokens: { access } }
        await groupStore(tx).put(seal, of, 0)
        await between()
      })
    const first = signIn('first', () => (isPut.resolve(), mayEnd.promise))
    await isPut.promise
    const second = signIn('second', async () => {})
    await new Promise((resolve) => setTimeout(resolve, 100))
    mayEnd.resolve()
    await Promise.all([first, second])
    const [row, ...others] = await groupStore(database.read).due(9e9, 10)
    assert.ok(row)
    assert.deepEqual(others, [])
    const sealed = parseObject(row.sealed_tokens)['access'] as Sealed
    assert.equal(seal.open(sealed, grantContext('', row.id, 'access')), 'second')
  })
})
