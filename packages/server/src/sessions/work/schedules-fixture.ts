/** For tests: runs many schedules side by side, in a thread of its own, because test runners follow each promise. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import type { Database } from '../../ground/database/database.ts'
import { newPostgresUrl } from '../../ground/database/fixture.ts'
import { postgresDatabase } from '../../ground/database/postgres.ts'
import { sqliteDatabase } from '../../ground/database/sqlite.ts'
import { tenant } from '../log/fixture.ts'
import { newSession } from '../fixture.ts'
import type { ModelSession } from './model-fixture.ts'
import { newModelSession, owesWork, putItem, settleModel } from './model-fixture.ts'
import { enqueueItem, settleOverdue } from './queue.ts'
import type { Schedule } from './schedule-fixture.ts'
import { createRandom } from './random-fixture.ts'
import { checkAgreement, healSchedule, checkResults, stepSchedule } from './schedule-fixture.ts'

/** `folder`: for the SQLite file. Use a folder in memory: these tests do not test a disk. */
export type Schedules = { kind: Database['dialect']; seed: number; count: number; folder: string }

const { kind, seed, count, folder } = workerData as Schedules
const unclaimedMs = 10 ** 15
const sideBySide = kind === 'sqlite' ? 500 : 100
const jumps = [0, 1, 1, 1_000, 4_999, 5_000, 30_000, 61_000, 90_000, 301_000, -1_000]
const rounds = 4
const stepsOfRound = 3

async function newWorld(database: Database, clock: { now: number }, n: number): Promise<Schedule> {
  const environment = `env_${n}`
  // Every third session begins close to exhaustion.
  const long = clock.now - 300_000
  const left = n % 3 === 0 ? { attempts: 4, leftAt: [long, long] as const } : undefined
  const sessions = new Map<string, ModelSession>()
  for (let session = 0; session <= n % 2; session++) {
    const id = await newSession(database)
    await database.write(async (tx) => {
      const elsewhere = { self_hosted: 1, environment_id: environment }
      await tx.updateTable('sessions').set(elsewhere).where('id', '=', id).execute()
      await enqueueItem(
        tx,
        { tenant, environment, session: id },
        {
          now: clock.now,
          ...(left ? { left: { attempts: 4, left_first_ms: long, left_last_ms: long } } : {}),
        },
      )
    })
    const session = newModelSession()
    putItem(session, clock.now, left)
    sessions.set(id, session)
  }
  return {
    ...{ database, clock, environment, sessions },
    random: createRandom(seed + n),
    claims: [],
    ...{ calls: new Map(), seen: new Map() },
  }
}

/** Schedules that share a database and its clock. A failure names the seed. */
async function batch(database: Database, first: number): Promise<void> {
  const clock = { now: 1_000_000 + first * 10_000 }
  const common = createRandom(seed ^ first)
  const worlds = await Promise.all(
    Array.from({ length: sideBySide }, (_, n) => newWorld(database, clock, first + n)),
  )
  const all = (what: (world: Schedule) => Promise<void>) =>
    Promise.all(
      worlds.map((world) =>
        what(world).catch((cause: unknown) => {
          throw new Error(`schedule ${world.environment} of STEWARD_TEST_SEED=${seed}`, { cause })
        }),
      ),
    )
  const settle = async () => {
    for (const { sessions } of worlds)
      for (const session of sessions.values()) settleModel(session, clock.now)
    const settling = { now: clock.now, unclaimedMs, limit: 100_000 }
    await database.write((tx) => settleOverdue(tx, settling))
  }
  for (let round = 0; round < rounds; round++) {
    await all(async (world) => {
      for (let n = 0; n < stepsOfRound; n++) await stepSchedule(world)
    })
    clock.now += common.of(jumps) ?? 0
    if (common.chance(0.3)) await settle()
  }
  await all(checkAgreement)
  // Two rounds: an item that the job enqueues again is not due at once.
  for (let round = 0; round < 2; round++) {
    clock.now += 400_000
    await settle()
    await all(healSchedule)
  }
  await all(async (world) => {
    for (const session of world.sessions.values()) assert.ok(!owesWork(session), 'work was lost')
    await checkAgreement(world)
    await checkResults(world)
  })
  await database.write((tx) => tx.deleteFrom('work').execute())
}

const opener = {
  sqlite: () => sqliteDatabase(join(folder, 'steward.db')),
  postgres: async () => {
    const url = new URL(await newPostgresUrl())
    url.searchParams.set('options', '-c synchronous_commit=off')
    return postgresDatabase(url.href)
  },
}
const opened = await opener[kind]()
for (let first = 0; first < count; first += sideBySide) await batch(opened, first)
await opened.close()
parentPort?.postMessage(count)
