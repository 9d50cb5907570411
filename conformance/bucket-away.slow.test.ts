/** A service whose bucket refuses connections, or says nothing: it says so, holds nobody up, and recovers. */
import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { InternalServerError, toFile } from '@anthropic-ai/sdk'
import { servedBucket } from '@steward/server/ground/blobs/s3-fixture.ts'
import type { PostgresProxy } from '@steward/server/ground/database/proxy-fixture.ts'
import { postgresProxy } from '@steward/server/ground/database/proxy-fixture.ts'
import type { LooseBody, TestService } from './service.ts'
import { boot } from './service.ts'
import { all, logOf, newSession, turn } from './turns.ts'
import { until } from './until.ts'
import { verifies } from './verifies.ts'

const tools = [{ type: 'agent_toolset_20260401', default_config: { enabled: true } }]

describe('a service whose bucket is away', () => {
  let served: Awaited<ReturnType<typeof servedBucket>>
  let proxy: PostgresProxy
  let service: TestService
  before(async () => {
    served = await servedBucket()
    proxy = await postgresProxy(served.bucket.endpoint)
    const { bucket, region, accessKeyId, secretAccessKey } = served.bucket
    const blobs = {
      ...{ type: 's3', endpoint: proxy.url, bucket, region },
      ...{ access_key_id: accessKeyId, secret_access_key: secretAccessKey },
    }
    service = await boot('sqlite', { env: { STORE_BACKENDS: JSON.stringify({ blobs }) } })
  })
  after(async () => {
    proxy.resume()
    await service.close()
    await proxy[Symbol.asyncDispose]()
    await served.close()
  })

  const ready = async () => {
    const answer = await fetch(`${service.base}/readyz`)
    const { version, ...body } = (await answer.json()) as Record<string, unknown>
    if (!('stopping' in body)) assert.match(String(version), /^\d+\.\d+\.\d+/)
    return { status: answer.status, body }
  }

  async function refusedUpload(): Promise<void> {
    const upload = service.client.files.upload(
      { file: await toFile(Buffer.from('x'), 'a.txt') },
      { maxRetries: 0 },
    )
    await assert.rejects(upload, (error) => {
      assert.ok(error instanceof InternalServerError, String(error))
      assert.deepEqual([error.status, error.headers?.get('retry-after')], [503, '3'])
      assert.match(error.message, /store of files cannot be reached/)
      return true
    })
  }

  async function outputsOf(session: string): Promise<string[]> {
    const beta = { 'vendor-beta': 'managed-agents-2026-04-01' }
    const path = `/v1/sessions/${session}/outputs`
    const { body } = await service.ask<LooseBody>('GET', path, undefined, beta)
    return body.data.map(({ filename }) => String(filename))
  }

  verifies(
    ['http/ready', 'http/blobs-away', 'outputs/published'],
    'answers 503 with the time to wait, holds no turn, and publishes the outputs when it is back',
    async () => {
      assert.deepEqual((await ready()).body, {
        ...{ ok: true, database: 'ok', notifications: 'ok', blobs: 'ok' },
      })
      const session = await newSession(service, { tools })
      for (const [state, lose] of [
        ['away', () => proxy.refuse()],
        ['slow', () => proxy.vanish()],
      ] as const) {
        lose()
        await refusedUpload()
        await until(async () => (await ready()).body['blobs'] === state)
        assert.equal((await ready()).status, 503)
        const command = `echo ${state} > /mnt/session/outputs/${state}`
        await turn(service, session, `call bash ${JSON.stringify({ command })}`)
        const warned = all(await logOf(service, session), 'session.warning').map(
          ({ reason }) => reason,
        )
        assert.ok(warned.includes('outputs_not_published'), JSON.stringify(warned))
        proxy.resume()
        await until(async () => (await ready()).status === 200)
        await until(async () => (await outputsOf(session)).includes(state))
      }
    },
  )
})
