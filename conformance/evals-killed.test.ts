/** A run whose server is lost in the middle. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from 'node:test'
import type { Eval, EvalResult } from '@steward/protocol/evals.ts'
import { newPostgresUrl } from '@steward/server/ground/database/fixture.ts'
import { startServer } from './process.ts'
import { clientsOf, scenarioDatabases } from './service.ts'
import { until } from './until.ts'
import { verifies } from './verifies.ts'

const samples = 16

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`an eval of a killed server on ${database}`, () => {
    verifies('evals/once', 'has each trial once, and ends', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'steward-evals-'))
      const env = {
        DATA_DIR: folder,
        SANDBOX_DIR: join(folder, 's'),
        SANDBOX_PROVIDER: 'local',
        EGRESS_PROFILE: 'best_effort',
        ...(database === 'postgres' ? { DATABASE_URL: await newPostgresUrl() } : {}),
      }
      const first = await startServer(env)
      const before = clientsOf(first.base)
      const { body: agent } = await before.ask('POST', '/v1/agents', {
        name: 'a',
        model: 'offline',
        tools: [],
      })
      const { body: environment } = await before.ask('POST', '/v1/environments', { name: 'e' })
      const { body: run } = await before.ask<Eval>('POST', '/v1/ext/evals', {
        agent: agent.id,
        environment_id: environment.id,
        samples: Array.from({ length: samples }, (_, n) => ({ input: [`say: ${n}`, 'say: done'] })),
        graders: [{ name: 'done', type: 'text', op: 'equals', value: 'done' }],
        max_concurrency: 4,
      })
      assert.ok(run.id, JSON.stringify(run))
      const path = `/v1/ext/evals/${run.id}`
      await until(async () => (await before.ask<Eval>('GET', path)).body.counts.passed > 2)
      await first.kill()
      await using second = await startServer(env)
      const after = clientsOf(second.base)
      let counts = run.counts
      await until(async () => {
        const { body } = await after.ask<Eval>('GET', path)
        counts = body.counts
        return body.status === 'completed'
      })
      assert.deepEqual([counts.total, counts.passed], [samples, samples])
      const results = await after.ask<{ data: EvalResult[] }>('GET', `${path}/results?limit=1000`)
      const sessions = await after.ask('GET', '/v1/sessions?limit=1000&include_archived=true')
      const ids = (list: (string | null)[]) => new Set(list)
      assert.equal(sessions.body.data.length, samples)
      assert.deepEqual(
        ids(results.body.data.map(({ session_id }) => session_id)),
        ids(sessions.body.data.map(({ id }) => id)),
      )
      for (const { id } of sessions.body.data) {
        const log = await after.ask<{ type: string }[]>('GET', `/v1/sessions/${id}/log`)
        const messages = log.body.filter(({ type }) => type === 'user.message')
        assert.equal(messages.length, 2)
      }
      await rm(folder, { recursive: true, force: true })
    })
  })
}
