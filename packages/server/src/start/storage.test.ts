import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import { Agent } from 'undici'
import { readConfig } from '../ground/config/config.ts'
import { describeCauses } from './checks/finding.ts'
import { openBlobs } from './storage.ts'

describe('the store of files as a server starts', () => {
  it('is named with the reason why it cannot be reached', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    server.close()
    const bucket = {
      ...{ type: 's3', endpoint: `http://127.0.0.1:${port}`, bucket: 'files', region: 'here' },
      ...{ access_key_id: 'key', secret_access_key: 'secret' },
    }
    const read = readConfig({
      PLATFORM_ROOT_SECRET: '0'.repeat(64),
      STORE_BACKENDS: JSON.stringify({ blobs: bucket }),
    })
    assert.ok(read.ok)
    const dispatcher = new Agent()
    await assert.rejects(openBlobs(read.config, dispatcher), (error: Error) => {
      assert.match(error.message, /STORE_BACKENDS.*ECONNREFUSED/)
      assert.doesNotMatch(describeCauses(error), /in a moment/)
      return true
    })
    await dispatcher.close()
  })
})
