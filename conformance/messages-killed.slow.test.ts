/** A server is killed while a model answers a request of `/v1/messages`. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from 'node:test'
import { newPostgresUrl } from '@steward/server/ground/database/fixture.ts'
import { startHeldModel } from './held-model.ts'
import { countedUsage, shortAsk } from './messages-api.ts'
import { startServer } from './process.ts'
import { clientsOf, scenarioDatabases } from './service.ts'
import { verifies } from './verifies.ts'

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`a request of /v1/messages on ${database}`, () => {
    verifies('messages/counted', 'is counted when its server is killed', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'steward-messages-'))
      try {
        const env = {
          DATA_DIR: folder,
          MESSAGES_API: 'true',
          EGRESS_TENANT_TARGETS: '127.0.0.0/8:*',
          ...(database === 'postgres' ? { DATABASE_URL: await newPostgresUrl() } : {}),
        }
        const first = await startServer(env)
        await using model = await startHeldModel(clientsOf(first.base), 'never said')
        const asked = clientsOf(first.base).client.messages.create(
          { model: model.model, ...shortAsk, stream: true },
          { maxRetries: 0 },
        )
        const broken = assert.rejects(asked)
        await model.asked
        await first.kill()
        await broken
        model.release()
        await using second = await startServer(env)
        const { requests, input_tokens, output_tokens } = await countedUsage(
          clientsOf(second.base),
          model.model,
        )
        assert.deepEqual([requests, output_tokens], [1, 0])
        assert.ok(input_tokens > 0)
      } finally {
        await rm(folder, { recursive: true, force: true })
      }
    })
  })
}
