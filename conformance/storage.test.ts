/** A service whose database goes away, and one whose disk is full: both live, say so, and go on afterwards. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from 'node:test'
import { promisify } from 'node:util'
import { APIError, InternalServerError } from '@anthropic-ai/sdk'
import { newPostgresUrl } from '@steward/server/database/fixture.ts'
import { postgresProxy } from '@steward/server/database/proxy-fixture.ts'
import type { Service } from './service.ts'
import { boot } from './service.ts'
import { until } from './until.ts'
import { verifies } from './verifies.ts'

const run = promisify(execFile)
const agent = { name: 'an agent', model: 'offline' }

const ready = async ({ base }: Service) => {
  const answer = await fetch(`${base}/readyz`)
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
}

async function refusalOf(service: Service): Promise<APIError> {
  const refused = service.client.beta.agents.create(agent)
  const error: unknown = await refused.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  assert.ok(error instanceof APIError, String(error))
  return error
}

const healthy = async ({ base }: Service) => (await fetch(`${base}/healthz`)).status === 200

describe('a service whose Postgres is away', () => {
  verifies(
    ['http/ready', 'errors/case/database-away', 'errors/type/internal-error'],
    'answers 503 with the time to wait, is healthy and not ready, and goes on afterwards',
    async () => {
      await using proxy = await postgresProxy(await newPostgresUrl())
      const service = await boot('postgres', {
        env: {
          DATABASE_URL: proxy.url,
          DATABASE_CONNECT_SECONDS: '1',
          DATABASE_STATEMENT_SECONDS: '1',
        },
      })
      try {
        const { status, body } = await ready(service)
        assert.deepEqual([status, body], [200, { ok: true, database: 'ok', notifications: 'ok' }])
        await service.client.beta.agents.create(agent)

        proxy.refuse()
        const error = await refusalOf(service)
        assert.ok(error instanceof InternalServerError)
        assert.equal(error.status, 503)
        assert.equal(error.headers?.get('retry-after'), '3')
        assert.equal(error.type, 'overloaded_error')
        assert.match(error.message, /database cannot be reached/)
        assert.ok(await healthy(service))
        await until(async () => {
          const said = await ready(service)
          const { database, notifications } = said.body
          return said.status === 503 && database === 'away' && notifications === 'away'
        })

        proxy.resume()
        // The official client itself comes back within its two repetitions.
        await service.client.beta.agents.create(agent, { maxRetries: 2 })
        await until(async () => (await ready(service)).status === 200)
      } finally {
        proxy.resume()
        await service.close()
      }
    },
  )
})

describe('a service whose disk is full', () => {
  verifies(
    ['http/ready', 'errors/case/disk-full'],
    'answers 507 to what it cannot keep, shows what it has, is not ready, and goes on when there is space',
    async () => {
      const folder = await mkdtemp(join(tmpdir(), 'steward-full-'))
      await run('mount', ['-t', 'tmpfs', '-o', 'size=16m', 'tmpfs', folder]).catch((cause) => {
        throw new Error('this test fills a small file system: run it as root', { cause })
      })
      const service = await boot('sqlite', { env: { DATA_DIR: folder } })
      try {
        await service.client.beta.agents.create(agent)
        const ballast = join(folder, 'ballast')
        await writeFile(ballast, Buffer.alloc(64 * 1024 * 1024)).catch((error: unknown) => {
          assert.equal((error as NodeJS.ErrnoException).code, 'ENOSPC')
        })
        let error = await refusalOf(service).catch(() => undefined)
        // What was left in the last page of the log may hold a few.
        while (!error) error = await refusalOf(service).catch(() => undefined)
        assert.equal(error.status, 507)
        assert.equal(error.headers?.get('retry-after'), '10')
        assert.match(error.message, /no space left/)
        assert.ok(await healthy(service))
        const { data } = await service.client.beta.agents.list()
        assert.ok(data.length > 0)
        const { status, body } = await ready(service)
        assert.deepEqual([status, body['database']], [503, 'full'])

        await rm(ballast)
        await service.client.beta.agents.create(agent)
        await until(async () => (await ready(service)).status === 200)
      } finally {
        await service.close()
        await run('umount', [folder])
        await rm(folder, { recursive: true })
      }
    },
  )
})
