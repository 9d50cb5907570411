/** Two processes on one Postgres that want the same work at the same time. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { PlatformError } from '../../ground/core/errors.ts'
import type { Database } from '../../ground/database/database.ts'
import { newPostgresUrl } from '../../ground/database/fixture.ts'
import { postgresDatabase } from '../../ground/database/postgres.ts'
import { tenant } from '../log/fixture.ts'
import { newSession } from '../fixture.ts'
import { claimOrEnd } from './claim-fixture.ts'
import type { WorkItem } from './item.ts'
import { attemptsWithinMs, claimLeaseMs, noAttempts } from './item.ts'
import { acknowledgeItem, beatItem, claimNext, enqueueItem, stopItem } from './queue.ts'
import { workStore } from './store.ts'

const idleMs = 10 ** 12
const anyone = { key: 'key', id: undefined }

describe('work that two processes want', () => {
  let both: [Database, Database]
  before(async () => {
    const url = await newPostgresUrl()
    both = [await postgresDatabase(url), await postgresDatabase(url)]
  })
  after(() => Promise.all(both.map((each) => each.close())))

  let environments = 0
  async function queued(count: number): Promise<string> {
    const environment = `env_${++environments}`
    for (let n = 0; n < count; n++) {
      const session = await newSession(both[0])
      await both[0].write((tx) => enqueueItem(tx, { tenant, environment, session }, { now: 0 }))
    }
    return environment
  }
  /** Runs `run` this number of times in each process, all at once. */
  const eachOf = <T>(times: number, run: (database: Database, n: number) => Promise<T>) =>
    Promise.all(
      both.flatMap((database) => Array.from({ length: times }, (_, n) => run(database, n))),
    )
  const claim = (database: Database, environment: string, now: number) =>
    claimNext(database, tenant, environment, { now, reclaimMs: 0 })
  const refOf = ({ environment_id: environment, id }: WorkItem) => ({ tenant, environment, id })
  const beats = (database: Database, item: WorkItem, now: number) =>
    beatItem(
      database,
      refOf(item),
      { by: { generation: item.generation }, expected: noAttempts },
      { now, idleMs },
    ).then(
      ({ last_heartbeat }) => last_heartbeat,
      () => undefined,
    )
  async function taken(environment: string, now: number): Promise<WorkItem> {
    const item = await claim(both[0], environment, now)
    assert.ok(item)
    return item
  }

  it('is claimed once in each generation, and ended once', async () => {
    const count = 20
    const environment = await queued(count)
    const handed: string[] = []
    const ended: string[] = []
    await eachOf(4, async (database) => {
      while (ended.length < count) {
        const at = { now: 1, reclaimMs: 0, by: anyone }
        const { item, ended: gone } = await claimOrEnd(database, tenant, environment, at)
        ended.push(...gone.map(({ id }) => id))
        if (!item) continue
        handed.push(`${item.id} ${item.generation}`)
        // So long ago that its lease has run out. Another process may have claimed its reservation since.
        const acknowledgedMs = 1 - claimLeaseMs - (item.attempts === 0 ? attemptsWithinMs : 0)
        const acknowledged = acknowledgeItem(database, refOf(item), anyone, acknowledgedMs)
        await acknowledged.catch((error: unknown) => assert.ok(error instanceof PlatformError))
      }
    })
    assert.deepEqual([ended.length, new Set(ended).size], [count, count])
    assert.equal(handed.length, new Set(handed).size)
    assert.ok(handed.length >= count * 6)
  })

  it('answers heartbeats that come at once as one', async () => {
    const item = await taken(await queued(1), 1)
    const said = await eachOf(8, (database) => beats(database, item, 2))
    assert.equal(new Set(said).size, 1)
    assert.ok(said[0])
  })

  it('is never both kept by its heartbeat and claimed by another', async () => {
    const environment = await queued(1)
    let now = 1
    let item = await taken(environment, now)
    for (let round = 0; round < 30; round++) {
      await beats(both[0], item, now)
      now += claimLeaseMs
      const late = eachOf(2, (database) => beats(database, { ...item }, now))
      const claims = eachOf(2, (database) => claim(database, environment, now))
      const kept = (await late).filter((beaten) => beaten !== undefined).length
      const [other, ...more] = (await claims).filter((each) => each !== undefined)
      // A claim that comes behind another's takes the reservation, as nothing keeps it here.
      for (const each of more) assert.notEqual(each.generation, other?.generation)
      const row = await workStore(both[1].read).row(tenant, environment, item.id)
      assert.equal(row.generation > item.generation, other !== undefined)
      if (other === undefined) assert.ok(kept > 0, 'nobody has it')
      await both[0].write((tx) => workStore(tx).change(row, { attempts: 0 }))
      now += claimLeaseMs
      item = await taken(environment, now)
    }
  })

  it('is acknowledged, prolonged and stopped in some order, whatever comes first', async () => {
    for (let round = 0; round < 30; round++) {
      const environment = await queued(1)
      const item = await taken(environment, 1)
      const [first, second] = both
      const by = { generation: item.generation }
      await Promise.allSettled([
        beats(first, item, 2),
        acknowledgeItem(second, refOf(item), anyone, 2),
        second.write((tx) => stopItem(tx, refOf(item), { by, force: true }, 2)),
        first.write((tx) => stopItem(tx, refOf(item), { by, force: false }, 2)),
      ])
      const row = await workStore(first.read).row(tenant, environment, item.id)
      assert.deepEqual([row.state, row.lease_ms], ['stopped', null])
    }
  })
})
