import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { memoryBus } from '../ground/bus/memory.ts'
import { isMissed } from '../ground/bus/bus.ts'
import { postgresChannel } from '../ground/bus/postgres.ts'
import { usualPostgresLimits } from '../ground/core/postgres-client.ts'
import { newPostgresUrl } from '../ground/database/fixture.ts'
import { limitsTopic } from '../tenants/limits/limits-cache.ts'
import { announceLimits, watchLimits } from './limit-changes.ts'

const tenant = 'wrkspc_a'

void describe('a command that changes limits', () => {
  void it('notifies a server on SQLite to read them again', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'steward-limits-'))
    const config = { dataDir, databaseUrl: undefined, databaseLimits: usualPostgresLimits }
    const bus = memoryBus()
    const heard = new Promise<boolean>((resolve) =>
      bus.subscribe(limitsTopic, (message) => resolve(isMissed(message))),
    )
    const watching = watchLimits(config, bus)
    try {
      await announceLimits(config, tenant)
      assert.equal(await heard, true)
    } finally {
      await watching.close()
      await rm(dataDir, { recursive: true })
    }
  })

  void it('names the workspace to servers on Postgres', async () => {
    const databaseUrl = await newPostgresUrl()
    const channel = await postgresChannel(databaseUrl, usualPostgresLimits)
    try {
      const heard = new Promise((resolve) => channel.subscribe(limitsTopic, resolve))
      await announceLimits(
        { dataDir: '', databaseUrl, databaseLimits: usualPostgresLimits },
        tenant,
      )
      assert.deepEqual(await heard, { tenant })
    } finally {
      await channel.close()
    }
  })
})
