/** The service with its blobs in a bucket: what scenarios/files.test.ts proves of a folder, in short. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { toFile } from '@anthropic-ai/sdk'
import { readConfig } from '@steward/server/config.ts'
import { jsonLog } from '@steward/server/core/log.ts'
import { servedBucket } from '@steward/server/blobs/s3-fixture.ts'
import { start } from '@steward/server/start.ts'
import type { Service } from './service.ts'
import { boot, rootSecret } from './service.ts'
import { newSession } from './turns.ts'
import { verifies } from './verifies.ts'

describe('files in a bucket', () => {
  let served: Awaited<ReturnType<typeof servedBucket>>
  let service: Service
  const setting = (change = {}) => {
    const { endpoint, bucket, region, accessKeyId, secretAccessKey } = served.bucket
    return JSON.stringify({
      blobs: {
        type: 's3',
        ...{ endpoint, bucket, region },
        access_key_id: accessKeyId,
        secret_access_key: secretAccessKey,
        prefix: 'steward',
        ...change,
      },
    })
  }
  before(async () => {
    served = await servedBucket()
    service = await boot('sqlite', { env: { STORE_BACKENDS: setting() } })
  })
  after(async () => {
    await service.close()
    await served.close()
  })

  verifies(
    ['files/upload', 'files/content', 'files/content/ranges', 'files/delete'],
    'are uploaded in parts, downloaded whole and in ranges, copied and deleted',
    async () => {
      const { files, beta } = service.client
      const content = Buffer.alloc(18 * 1024 * 1024, 'abcdefg')
      const made = await files.upload({ file: await toFile(content, 'large.bin') })
      assert.equal(made.size_bytes, content.length)
      const got = Buffer.from(await (await files.download(made.id)).arrayBuffer())
      assert.ok(got.equals(content))
      const range = { range: 'bytes=9000000-9000010' }
      const part = await service.raw('GET', `/v1/files/${made.id}/content`, undefined, range)
      assert.equal(await part.text(), content.subarray(9_000_000, 9_000_011).toString())
      const session = await newSession(service)
      const copy = await beta.sessions.resources.add(session, { type: 'file', file_id: made.id })
      await files.delete(made.id)
      assert.equal((await files.download(copy.file_id)).status, 200)
    },
  )

  it('the service does not start when the bucket cannot be used, and tells no secret', async () => {
    const read = readConfig({
      PORT: '0',
      DATA_DIR: service.dataDir + '-never',
      PLATFORM_ROOT_SECRET: rootSecret,
      EGRESS_ALLOW_PRIVATE: '127.0.0.0/8',
      STORE_BACKENDS: setting({ bucket: 'another', secret_access_key: 'canary' }),
    })
    assert.ok(read.ok)
    await assert.rejects(
      start(
        read.config,
        jsonLog(() => {}),
      ),
      (error: Error) => {
        assert.match(error.message, /STORE_BACKENDS.*NoSuchBucket/)
        assert.ok(!error.message.includes('canary'))
        return true
      },
    )
  })
})
