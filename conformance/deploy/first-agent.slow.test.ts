/** Commands that the containers of compose.yaml run once: before the server starts, and when it is ready. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { servedBucket } from '@steward/server/ground/blobs/s3-fixture.ts'
import type { ServerProcess } from '../process.ts'
import { runServer, startServer } from '../process.ts'

describe('the first agent', () => {
  let folder: string
  let server: ServerProcess
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'steward-first-agent-'))
    server = await startServer({ DATA_DIR: folder, SANDBOX_PROVIDER: 'none' })
  })
  after(async () => {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  const firstAgent = (env: Record<string, string | undefined> = {}) =>
    runServer(['first-agent', server.base], env)

  it('is made with an environment, once', async () => {
    const made = await firstAgent({ MODEL: 'offline' })
    assert.equal(made.code, 0, made.stderr)
    assert.match(made.stdout, /^made an environment \(env_\w+\)\nmade an agent \(agent_\w+\)\n$/)
    const again = await firstAgent({ MODEL: 'offline' })
    assert.equal(again.code, 0, again.stderr)
    assert.match(
      again.stdout,
      /^the workspace has an environment already: default \(.*\)\n.* an agent already: assistant \(.*\)\n$/,
    )
  })

  it('is refused with the words of the server, and without a key', async () => {
    const wrong = await firstAgent({ API_KEY: 'stw_key_wrong' })
    assert.notEqual(wrong.code, 0)
    assert.match(wrong.stderr, /^steward: GET \/v1\/environments answered 401: /)
    assert.match((await firstAgent({ API_KEY: undefined })).stderr, /first-agent needs API_KEY/)
  })
})

describe('the bucket of the settings', () => {
  let store: Awaited<ReturnType<typeof servedBucket>>
  before(async () => {
    store = await servedBucket()
  })
  after(() => store.close())

  it('is made once, and refused where the settings name none', async () => {
    const { endpoint, region, accessKeyId, secretAccessKey } = store.bucket
    const blobs = {
      type: 's3',
      ...{ endpoint, region, bucket: 'made-by-command' },
      ...{ access_key_id: accessKeyId, secret_access_key: secretAccessKey },
    }
    const env = {
      STORE_BACKENDS: JSON.stringify({ blobs }),
      EGRESS_ALLOW_PRIVATE: '127.0.0.0/8',
    }
    const made = await runServer(['create-bucket'], env)
    assert.equal(made.stdout, 'made the bucket made-by-command\n', made.stderr)
    const again = await runServer(['create-bucket'], env)
    assert.equal(again.stdout, 'the bucket made-by-command is there already\n')
    const none = await runServer(['create-bucket'], {})
    assert.match(none.stderr, /STORE_BACKENDS names no bucket/)
  })
})
