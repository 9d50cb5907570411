/** A service whose database is away, and a service whose disk is full: both keep running, say so and recover. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from 'node:test'
import { promisify } from 'node:util'
import { APIError, InternalServerError } from '@anthropic-ai/sdk'
import { newPostgresUrl } from '@steward/server/ground/database/fixture.ts'
import { postgresProxy } from '@steward/server/ground/database/proxy-fixture.ts'
import { bearer } from './faults/upstream-service.ts'
import { sessionOf, vaultOf } from './mcp.ts'
import type { TestService } from './service.ts'
import { systemClock } from '@steward/base/time.ts'
import { boot, scenarioDatabases } from './service.ts'
import { turn } from './turns.ts'
import { until } from './until.ts'
import { verifies } from './verifies.ts'

const run = promisify(execFile)
const agent = { name: 'an agent', model: 'offline' }

const ready = async ({ base }: TestService) => {
  const answer = await fetch(`${base}/readyz`)
  const { version, ...body } = (await answer.json()) as Record<string, unknown>
  if (!('stopping' in body)) assert.match(String(version), /^\d+\.\d+\.\d+/)
  return { status: answer.status, body }
}

async function refusalOf(service: TestService): Promise<APIError> {
  const refused = service.client.beta.agents.create(agent)
  const error: unknown = await refused.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  assert.ok(error instanceof APIError, String(error))
  return error
}

const healthy = async ({ base }: TestService) => (await fetch(`${base}/healthz`)).status === 200

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
        const parts = { database: 'ok', notifications: 'ok', blobs: 'ok' }
        assert.deepEqual([status, body], [200, { ok: true, ...parts }])
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
        // The official client succeeds within its two retries.
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
    'answers 507 to writes that it cannot keep, shows its data, is not ready, and goes on when there is room',
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
        // The last page of the database's log may still have room for a few writes.
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

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`rows that expire, on ${database}`, () => {
    verifies(
      ['sessions/delete/rows', 'sessions/delete/gone', 'audit/kept'],
      'go after their time, and none before it',
      async () => {
        let passed = 0
        const hour = 60 * 60 * 1000
        const clock = {
          now: () => Date.now() + passed,
          // Waits between jobs are short.
          sleep: (ms: number, signal: AbortSignal) => systemClock.sleep(Math.min(ms, 250), signal),
        }
        const service = await boot(database, { overrides: { clock } })
        try {
          const session = await sessionOf(service, {})
          const { id: other } = await service.client.beta.sessions.retrieve(
            await sessionOf(service, {}),
          )
          await turn(service, session, 'hello')
          const vault = await vaultOf(service, bearer('a-token'))
          await service.client.beta.sessions.delete(session)
          const count = async (table: 'events' | 'sessions' | 'credential_changes') =>
            (await service.database.read.selectFrom(table).select('tenant_id').execute()).length
          const changes = await count('credential_changes')
          assert.ok(changes > 0, vault)
          await until(async () => {
            const heads = service.database.read.selectFrom('session_heads').select('due')
            return (await heads.execute()).every(({ due }) => due === 0)
          })
          passed = 23 * hour
          await new Promise((resolve) => setTimeout(resolve, 600))
          assert.equal(await count('sessions'), 2)
          assert.ok((await count('events')) > 0)
          passed = 25 * hour
          await until(async () => (await count('sessions')) === 1)
          assert.equal(await count('events'), 0)
          const { status } = await service.ask('GET', `/v1/sessions/${session}`)
          assert.equal(status, 404)
          await service.client.beta.sessions.retrieve(other)
          assert.equal(await count('credential_changes'), changes)
          passed = 366 * 24 * hour
          await until(async () => (await count('credential_changes')) === 0)
        } finally {
          await service.close()
        }
      },
    )
  })
}
