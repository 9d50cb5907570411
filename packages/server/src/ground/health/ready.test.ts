import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '@steward/base/time.ts'
import { shapesOf } from '../database/shapes-fixture.ts'
import { createReadinessCheck } from './ready.ts'
import { testGround } from '../ground-fixture.ts'

for (const [kind, open] of Object.entries(shapesOf(import.meta.filename)))
  describe(`whether a server on ${kind} can do its work`, () => {
    it('is asked of a part once at a time, however many ask and however long it takes', async () => {
      await using opened = await open()
      const waiting: ((isThere: boolean) => void)[] = []
      let now = 0
      // Nobody waits for a part that is slow.
      const clock = { ...systemClock, now: () => now, sleep: () => sleep(20) }
      const ready = createReadinessCheck({
        ...testGround(opened.database, { clock }),
        blobStore: { isThere: () => new Promise((resolve) => waiting.push(resolve)) },
      })
      for (let n = 0; n < 20; n++) {
        assert.equal((await ready()).blobs, 'slow')
        now += 1_000
      }
      assert.equal(waiting.length, 1)
      waiting[0]?.(true)
      await sleep(0)
      const after = ready()
      await sleep(0)
      waiting[1]?.(false)
      assert.equal((await after).blobs, 'away')
    })
  })
