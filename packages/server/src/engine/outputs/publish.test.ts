import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { Blobs } from '../../ground/blobs/blobs.ts'
import { diskBlobs } from '../../ground/blobs/disk.ts'
import { blobKeeping } from '../../ground/blobs/blob-keeping.ts'
import { systemClock } from '@steward/base/time.ts'
import type { Database } from '../../ground/database/database.ts'
import { shapesOf } from '../../ground/database/shapes-fixture.ts'
import { claimHead, releaseHead } from '../../ground/database/lease.ts'
import { tenant } from '../../sessions/log/fixture.ts'
import { fileStore, heldByFile } from '../../resources/files/store.ts'
import { BlobStoreError } from '../../ground/core/errors.ts'
import { testGround } from '../../ground/ground-fixture.ts'
import type { MountTarget } from '../runner/sandboxes/mount-kind.ts'
import { newSession } from '../../sessions/fixture.ts'
import { outputStore } from '../../sessions/rows/outputs.ts'
import { leftOutputsJob } from './publish-left.ts'
import { outputPublisher } from './publish.ts'
import { limitsFor } from '../../tenants/limits/limits.ts'

const never = new AbortController().signal

for (const [kind, open] of Object.entries(shapesOf(import.meta.filename))) {
  async function setup() {
    const opened = await open()
    const { database } = opened
    const folder = await mkdtemp(join(tmpdir(), 'steward-outputs-'))
    const session = await newSession(database)
    const own = join(folder, session)
    await mkdir(join(own, 'outputs'), { recursive: true })
    const owner = database.owners.self
    const fence = await database.write((tx) => claimHead(tx, session, { owner, dead: [], now: 0 }))
    assert.ok(fence)
    let now = 0
    const blobs = await diskBlobs(join(folder, 'blobs'))
    const rows = () => outputStore(database.read).shown(tenant, session)
    return {
      ...{ database, blobs, own },
      turned: { tenant, session, generation: fence.generation, own },
      pass: (ms: number) => (now += ms),
      rest: () => database.write((tx) => releaseHead(tx, session, fence)),
      /** A turn begins. Returns its generation. */
      async claim(): Promise<number> {
        const claimed = await database.write((tx) =>
          claimHead(tx, session, { owner, dead: [], now: 0 }),
        )
        assert.ok(claimed)
        return claimed.generation
      },
      /** A process of this host, with parts of it replaced. */
      process(
        over: { blobs?: Partial<Blobs>; database?: Partial<Database>; isHere?: boolean } = {},
      ) {
        const clock = { ...systemClock, now: () => now }
        const ground = testGround({ ...database, ...over.database }, { clock })
        const { databases } = ground
        const keeping = blobKeeping({
          ...{ databases, clock, holders: [heldByFile], blobs: { ...blobs, ...over.blobs } },
        })
        const made = outputPublisher({
          ...ground,
          keeping,
          isHere: async () => over.isHere ?? true,
          limits: { largest: 1000, turn: 2500 },
          quotas: limitsFor('off', ground, { stored_bytes: 1 << 20 }).quotas,
        })
        const start = () =>
          made.kind({ session, folder: own, row: { outputs_path: null } } as MountTarget)
        const job = () => leftOutputsJob({ ...ground, outputs: made, folder }).run(never)
        return { ...made, keeping, start, job }
      },
      write: (name: string, text: string) => writeFile(join(own, 'outputs', name), text),
      names: async () => (await rows()).map(({ name }) => name),
      async stored() {
        const keys: string[] = []
        for await (const { key } of blobs.list('files/')) keys.push(key)
        return keys
      },
      marks: () => database.read.selectFrom('loose_blobs').selectAll().execute(),
      async [Symbol.asyncDispose]() {
        await opened[Symbol.asyncDispose]()
        await rm(folder, { recursive: true })
      },
    }
  }

  describe(`publishing on ${kind}`, () => {
    // verifies: outputs/published
    it('is done at the end of the next turn for the outputs of a dead server', async () => {
      await using at = await setup()
      const dead = at.process()
      await dead.publish(at.turned, false)
      await dead.start()
      await at.write('a', 'first')
      const next = at.process()
      await next.publish(at.turned, false)
      assert.deepEqual(await at.names(), ['a'])
      await at.write('b', 'nobody has started a sandbox since')
      await next.publish(at.turned, false)
      assert.deepEqual(await at.names(), ['a'])
    })

    // verifies: outputs/published
    it('publishes nothing from a host that no longer has the session', async () => {
      await using at = await setup()
      await at.process().start()
      await at.write('a', 'older than what is published')
      await at.process({ isHere: false }).publish(at.turned, false)
      assert.deepEqual(await at.names(), [])
    })

    // verifies: outputs/published
    it('that fails in the store is tried again, and publishes nothing until then', async () => {
      await using at = await setup()
      const put: Blobs['put'] = async (key, body) => {
        await at.blobs.put(key, body)
        throw new Error('no room')
      }
      const broken = at.process({ blobs: { put } })
      await broken.start()
      await at.write('a', 'first')
      await assert.rejects(broken.publish(at.turned, true), /no room/)
      assert.deepEqual([await at.names(), await at.stored(), await at.marks()], [[], [], []])
      const mended = at.process()
      await mended.publish(at.turned, true)
      assert.deepEqual([await at.names(), (await at.stored()).length], [['a'], 1])
    })

    // verifies: outputs/published
    it('that fails in the store is done by a job, once no turn runs, in this process or the next', async () => {
      await using at = await setup()
      const away = new BlobStoreError(new Error('ECONNREFUSED'))
      let asked = 0
      let isAway = true
      const put: Blobs['put'] = async (key, body) => {
        asked++
        if (isAway) throw away
        return at.blobs.put(key, body)
      }
      const one = at.process({ blobs: { put } })
      await one.start()
      for (let n = 0; n < 20; n++) await at.write(`${n}`, `${n}`)
      await assert.rejects(one.publish(at.turned, true), away)
      assert.ok(asked <= 4, `a store that is away was asked ${asked} times for one turn`)
      await one.job()
      assert.deepEqual(await at.names(), [], 'a turn runs')
      await at.rest()
      await assert.rejects(one.job(), away)
      isAway = false
      const next = at.process({ blobs: { put } })
      await next.job()
      assert.equal((await at.names()).length, 20)
      await at.write('late', 'since')
      await one.job()
      assert.equal((await at.names()).length, 21)
      const done = asked
      await one.job()
      await next.job()
      assert.equal(asked, done)
    })

    it('is not done by the job of a process that another one has followed', async () => {
      await using at = await setup()
      const put = () => Promise.reject(new BlobStoreError(new Error('ECONNREFUSED')))
      const one = at.process({ blobs: { put }, isHere: false })
      await one.start()
      await at.write('a', 'first')
      await assert.rejects(one.publish(at.turned, true))
      await at.rest()
      const next = at.process({ isHere: false })
      await next.job()
      assert.deepEqual(await at.names(), [])
    })

    it('is not done by the job of a process whose sandbox is still there, but the session is not', async () => {
      await using at = await setup()
      let isAway = true
      const put: Blobs['put'] = async (key, body) => {
        if (isAway) throw new BlobStoreError(new Error('ECONNREFUSED'))
        return at.blobs.put(key, body)
      }
      const one = at.process({ blobs: { put }, isHere: false })
      await one.start()
      await at.write('a', 'older than what another host has published since')
      await assert.rejects(one.publish(at.turned, true))
      await at.rest()
      isAway = false
      await one.job()
      assert.deepEqual([await at.names(), one.left()], [[], []])
    })

    // verifies: outputs/published
    it('is done at the end of a turn that began while the job published', async () => {
      await using at = await setup()
      let begin = () => Promise.reject<unknown>(new BlobStoreError(new Error('ECONNREFUSED')))
      const put: Blobs['put'] = async (key, body) => {
        await begin()
        return at.blobs.put(key, body)
      }
      const one = at.process({ blobs: { put } })
      const mount = await one.start()
      await at.write('a', 'first')
      await assert.rejects(one.publish(at.turned, true))
      await mount.ended?.()
      await at.rest()
      let generation = 0
      begin = async () => (generation = await at.claim())
      await one.job()
      assert.deepEqual(await at.names(), [])
      begin = () => Promise.resolve()
      await one.publish({ ...at.turned, generation }, false)
      assert.deepEqual(await at.names(), ['a'])
    })

    // verifies: outputs/published
    it('is done once when the jobs of two processes of one folder meet', async () => {
      await using at = await setup()
      const put = () => Promise.reject(new BlobStoreError(new Error('ECONNREFUSED')))
      const dead = at.process({ blobs: { put } })
      await dead.start()
      for (const name of ['a', 'b']) await at.write(name, name)
      await assert.rejects(dead.publish(at.turned, true))
      await at.rest()
      await Promise.all([at.process().job(), at.process().job(), at.process().job()])
      assert.deepEqual([await at.names(), (await at.stored()).length], [['a', 'b'], 2])
    })

    // verifies: outputs/limits
    it('goes on at the end of a turn that has used no sandbox', async () => {
      await using at = await setup()
      await at.process().start()
      for (const name of ['a', 'b', 'c']) await at.write(name, name.repeat(1000))
      const next = at.process()
      await next.publish(at.turned, false)
      assert.equal((await at.names()).length, 2)
      await next.publish(at.turned, false)
      assert.deepEqual(await at.names(), ['a', 'b', 'c'])
    })

    // verifies: outputs/published
    it('that ends between bytes and rows keeps bytes that a job removes, and no name', async () => {
      await using at = await setup()
      let calls = 0
      // The process dies at the third commit: after two marks, at the rows.
      const dying: Database['write'] = async (unit) => {
        if (++calls > 2) throw new Error('killed')
        return at.database.write(unit)
      }
      const dead = at.process({ database: { write: dying } })
      await dead.start()
      await at.write('a', 'first')
      await at.write('b', 'second')
      await assert.rejects(dead.publish(at.turned, true), /killed/)
      assert.deepEqual([await at.names(), (await at.stored()).length], [[], 2])
      const next = at.process()
      await next.publish(at.turned, true)
      assert.deepEqual([await at.names(), (await at.stored()).length], [['a', 'b'], 4])
      at.pass(25 * 60 * 60 * 1000)
      await next.keeping.removeLoose()
      const rows = await fileStore(at.database.read).allOfSession(tenant, at.turned.session)
      assert.deepEqual(new Set(await at.stored()), new Set(rows.map((row) => row.blob_key)))
    })

    it('publishes nothing from a process that has lost the session', async () => {
      await using at = await setup()
      const late = at.process()
      await late.start()
      await at.write('a', 'first')
      await late.publish({ ...at.turned, generation: at.turned.generation - 1 }, true)
      assert.deepEqual([await at.names(), await at.stored(), await at.marks()], [[], [], []])
    })

    // verifies: outputs/limits
    it('stops at what one turn may publish, and goes on with the next', async () => {
      await using at = await setup()
      const { start, publish } = at.process()
      await start()
      for (const name of ['a', 'b', 'c']) await at.write(name, name.repeat(1000))
      await publish(at.turned, true)
      assert.equal((await at.names()).length, 2)
      await publish(at.turned, true)
      assert.deepEqual(await at.names(), ['a', 'b', 'c'])
    })
  })
}
