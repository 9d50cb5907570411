import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { everyShape } from '../../ground/database/shapes-fixture.ts'
import { testGround } from '../../ground/ground-fixture.ts'
import { tenant } from '../log/fixture.ts'
import { toEnvironmentRecord } from '../../resources/environments/record.ts'
import { environmentStore } from '../../resources/environments/store.ts'
import { newSession } from '../fixture.ts'
import { createPoller } from './poll.ts'
import { workerName } from './presence.ts'
import { claimNext, enqueueItem } from './queue.ts'
import { workStore } from './store.ts'
import { notifyPollers } from './topics.ts'

const pool = toEnvironmentRecord({ name: 'pool', config: { type: 'self_hosted' } })

for (const [kind, open] of Object.entries(everyShape)) {
  async function setup() {
    const opened = await open()
    const { database } = opened
    const made = await database.write((tx) => environmentStore(tx).create(tenant, pool, 0))
    const environment = made.id
    const { bus } = opened
    const ask = createPoller(testGround(database, { bus }))
    const put = async () => {
      const session = await newSession(database)
      const now = Date.now()
      await database.write(async (tx) => {
        await enqueueItem(tx, { tenant, environment, session }, { now })
        notifyPollers(tx, { environment })
      })
    }
    const stats = () => workStore(database.read).stats(tenant, environment, Date.now())
    return {
      ...{ database, environment, put, stats },
      ask: (blockMs: number, signal = new AbortController().signal, worker?: string) =>
        ask(tenant, environment, {
          ...{ blockMs, reclaimMs: 600_000, signal },
          worker: { key: 'key', id: workerName(worker) },
        }),
      [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
    }
  }

  describe(`polls on ${kind}`, () => {
    it('wake one after the other, and a poller that has disconnected gets nothing', async () => {
      await using here = await setup()
      const gone = new AbortController()
      const first = here.ask(30_000, gone.signal)
      const others = [here.ask(30_000), here.ask(30_000)]
      gone.abort()
      assert.equal(await first, undefined)
      await here.put()
      await here.put()
      const items = await Promise.all(others)
      assert.equal(new Set(items.map((item) => item?.id)).size, 2)
    })

    it('a poller that disconnects in the midst of its claim loses it to the next one', async () => {
      await using here = await setup()
      const gone = new AbortController()
      await here.put()
      const asked = here.ask(0, gone.signal)
      setImmediate(() => gone.abort())
      const first = await asked
      const second = await here.ask(0)
      assert.ok((first === undefined) !== (second === undefined), 'one of them has it')
    })

    it('work that comes while a poller asks wakes it, or another poller behind it', async () => {
      await using here = await setup()
      const polls = Array.from({ length: 20 }, () => here.ask(30_000))
      await Promise.all(Array.from({ length: 20 }, () => here.put()))
      const items = await Promise.all(polls)
      assert.equal(new Set(items.map((item) => item?.id)).size, 20)
    })

    it('workers are counted, whatever they call themselves', async () => {
      await using here = await setup()
      await here.ask(0, undefined, 'x'.repeat(15_000))
      await here.ask(0, undefined, 'x'.repeat(15_000))
      assert.equal((await here.stats()).workers_polling, 1)
    })

    it('1,000 items go to 8 pollers, each to one', async () => {
      await using here = await setup()
      const { database, environment } = here
      for (let n = 0; n < 20; n++) await Promise.all(Array.from({ length: 50 }, () => here.put()))
      const got: string[] = []
      const at = { now: Date.now(), reclaimMs: 600_000 }
      const drain = async () => {
        for (;;) {
          const item = await claimNext(database, tenant, environment, at)
          if (!item) return
          assert.equal(item.generation, 1)
          got.push(item.id)
        }
      }
      await Promise.all(Array.from({ length: 8 }, drain))
      assert.deepEqual([got.length, new Set(got).size], [1_000, 1_000])
    })
  })
}
