import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { noUsage } from '@steward/model/model.ts'
import { NoWorkspaceError, StorageError } from '../../../ground/core/errors.ts'
import type { Database } from '../../../ground/database/database.ts'
import { oneDatabase } from '../../../ground/database/database.ts'
import { databases } from '../../../ground/database/fixture.ts'
import { testGround } from '../../../ground/ground-fixture.ts'
import { messageCounting } from './counting.ts'

const tenant = 'wrkspc_test'
const { signal } = new AbortController()
const asked = { by: 'apikey_1', model: 'a', price: null, inputTokens: 10 }
const spending = { add: () => {} }

const counted = async ({ read }: Database): Promise<number> =>
  (await read.selectFrom('message_usage').selectAll().execute()).length

/** The database as another process sees it. `dead`: the processes that have died. */
const seenBy = (self: string, database: Database, dead: readonly string[] = []): Database => ({
  ...database,
  owners: { self, dead: async (asked) => asked.filter((each) => dead.includes(each)) },
})

describe('the count of requests of messages', () => {
  it('finds those of a dead process behind any number of running ones', async () => {
    await using at = await databases.sqlite()
    const begin = async (self: string) => {
      const database = seenBy(self, at.database)
      const counting = messageCounting({ ...testGround(database), spending, messagesApi: true })
      await counting.begin({ db: database, tenant }, asked)
    }
    for (let each = 0; each < 101; each++) await begin('running')
    await begin('died')
    const here = seenBy('here', at.database, ['died'])
    const { job } = messageCounting({ ...testGround(here), spending, messagesApi: true })
    await job.run(signal)
    assert.equal(await counted(at.database), 1)
  })

  it('goes on when the workspace of a request that could not be written is deleted', async () => {
    await using at = await databases.sqlite()
    const { database } = at
    const ground = testGround({
      ...oneDatabase(database),
      open: async () => {
        throw new NoWorkspaceError(tenant)
      },
    })
    const counting = messageCounting({ ...ground, spending, messagesApi: true })
    let isAway = false
    const failing: Database = {
      ...database,
      write: (unit) =>
        isAway ? Promise.reject(new StorageError('away', new Error('away'))) : database.write(unit),
    }
    const begun = await counting.begin({ db: failing, tenant }, asked)
    isAway = true
    await begun.end({ ...noUsage, input_tokens: 10 })
    await counting.job.run(signal)
  })
})
