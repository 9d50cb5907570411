/** The service with its blobs in a bucket: a short version of scenarios/files.slow.test.ts, which uses a folder. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { toFile } from '@anthropic-ai/sdk'
import { readConfig } from '@steward/server/ground/config/config.ts'
import { jsonLog } from '@steward/base/log.ts'
import { servedBucket } from '@steward/server/ground/blobs/s3-fixture.ts'
import { startService } from '@steward/server/start/start.ts'
import type { LooseBody, TestService } from './service.ts'
import { boot, rootSecret } from './service.ts'
import { newSession, turn } from './turns.ts'
import { verifies } from './verifies.ts'

describe('files in a bucket', () => {
  let served: Awaited<ReturnType<typeof servedBucket>>
  let service: TestService
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

  verifies(
    ['sandbox/path/files', 'sandbox/path/outputs-published', 'sessions/output'],
    'are mounted for a session, and published from it',
    async () => {
      const file = await toFile(Buffer.alloc(100_000, 'abc'), 'a.txt')
      const { id: file_id } = await service.client.files.upload({ file })
      const tools = [{ type: 'agent_toolset_20260401', default_config: { enabled: true } }]
      const resource = { type: 'file', file_id, mount_path: '/mnt/session/uploads/a' }
      const session = await newSession(service, { tools }, { resources: [resource] })
      const command = 'cd /mnt/session && cat uploads/a uploads/a > outputs/twice'
      await turn(service, session, `call bash ${JSON.stringify({ command })}`)
      const path = `/v1/sessions/${session}/outputs`
      const beta = { 'vendor-beta': 'managed-agents-2026-04-01' }
      const { body } = await service.ask<LooseBody>('GET', path, undefined, beta)
      assert.deepEqual(
        body.data.map(({ filename, size_bytes }) => [filename, size_bytes]),
        [['twice', 200_000]],
      )
      const answer = await service.raw('GET', `${path}/twice`, undefined, beta)
      const twice = Buffer.concat([Buffer.alloc(100_000, 'abc'), Buffer.alloc(100_000, 'abc')])
      assert.ok(Buffer.from(await answer.arrayBuffer()).equals(twice))
      await service.client.beta.sessions.delete(session)
    },
  )

  it('the service does not start when the bucket cannot be used, and reveals no secret', async () => {
    const read = readConfig({
      PORT: '0',
      DATA_DIR: service.dataDir + '-never',
      EGRESS_TENANT_TARGETS: '127.0.0.0/8:*',
      PLATFORM_ROOT_SECRET: rootSecret,
      EGRESS_ALLOW_PRIVATE: '127.0.0.0/8',
      STORE_BACKENDS: setting({ bucket: 'another', secret_access_key: 'canary' }),
    })
    assert.ok(read.ok)
    await assert.rejects(
      startService(
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
