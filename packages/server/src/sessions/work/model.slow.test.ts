/** Random interleavings of all that can happen to claimed work, against a model of who owns it. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { Worker } from 'node:worker_threads'
import { isLongRun } from '../../ground/database/fixture.ts'
import type { Schedules } from './schedules-fixture.ts'

const seed = Number(process.env['STEWARD_TEST_SEED'] ?? Date.now() % 1_000_000)
/** A folder of Linux whose files are in memory. */
const memory = '/dev/shm'
/** Schedules of one test: half a minute where nothing else runs. */
const schedules = { sqlite: 500, postgres: 50 }
const tests = isLongRun ? { sqlite: 19, postgres: 10 } : { sqlite: 1, postgres: 1 }
const timeout = 300_000

describe(`claimed work, from STEWARD_TEST_SEED=${seed}`, { concurrency: 2 }, () => {
  const kinds = ['sqlite', 'postgres'] as const
  const all = kinds.flatMap((kind) =>
    Array.from({ length: tests[kind] }, (_, n) => ({ kind, first: seed + n * schedules[kind] })),
  )
  for (const { kind, first } of all) {
    it(
      `has one owner at a time on ${kind}, whatever happens, and none of it is lost, from ${first}`,
      { timeout },
      async () => {
        const folder = await mkdtemp(join(existsSync(memory) ? memory : tmpdir(), 'steward-test-'))
        const workerData: Schedules = { kind, seed: first, count: schedules[kind], folder }
        const worker = new Worker(new URL('./schedules-fixture.ts', import.meta.url), {
          workerData,
        })
        const [done] = await once(worker, 'message')
        await rm(folder, { recursive: true })
        assert.equal(done, schedules[kind])
      },
    )
  }
})
