import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { jsonLog } from '@steward/base/log.ts'
import { readConfig } from './config.ts'
import { startWorker } from './start.ts'

describe('a worker as it starts', () => {
  it('names a folder that cannot be made', async () => {
    const read = readConfig({
      ...{ WORKER_BASE_URL: 'http://127.0.0.1:1', WORKER_ENVIRONMENT_ID: 'env_1' },
      ...{ WORKER_ENVIRONMENT_KEY: 'key', WORKER_DIR: '/proc/steward' },
    })
    assert.ok(read.ok, JSON.stringify(read))
    const start = startWorker(
      read.config,
      jsonLog(() => {}),
      AbortSignal.abort(),
    )
    await assert.rejects(start, /\/proc\/steward cannot be used: .*WORKER_DIR \(ENOENT/)
  })
})
