/** The number of things that a workspace may hold. */
import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { systemClock } from '@steward/base/time.ts'
import { setLimit } from '@steward/server/tenants/limits/operator-limits.ts'
import Anthropic, { RateLimitError, toFile } from '@anthropic-ai/sdk'
import { StorageQuotaExceededError } from '@anthropic-ai/sdk/resources/files'
import { callerAt } from '../caller.ts'
import type { TestService } from '../service.ts'
import { boot, databases } from '../service.ts'
import { fresh } from '../turns.ts'
import { verifies } from '../verifies.ts'

type QuotaRefusal = { error: { type: string; message: string; details: { error_code: string } } }
type ShownQuota = {
  name: string
  value: number | null
  source: string
  limit: number | null
  allowed: number | null
  used: number | null
}
type QuotaList = { data: ShownQuota[] }

for (const database of databases)
  describe(`quotas, on ${database}`, () => {
    let service: TestService
    let ahead = 0
    before(async () => {
      const clock = { ...systemClock, now: () => Date.now() + ahead }
      service = await boot(database, { overrides: { clock } })
    })
    after(() => service.close())

    async function workspaceOf() {
      const { workspace, key } = await service.otherWorkspace(fresh('workspace'))
      return { workspace, key, ...callerAt(service.base, key) }
    }
    type QuotaWorkspace = Awaited<ReturnType<typeof workspaceOf>>

    const newAgent = ({ ask }: QuotaWorkspace) =>
      ask<QuotaRefusal & { id: string }>('POST', '/v1/agents', {
        name: fresh('agent'),
        model: 'offline',
        tools: [],
      })

    async function quotaOf({ ask }: QuotaWorkspace, name: string): Promise<ShownQuota> {
      const { body } = await ask<QuotaList>('GET', '/v1/ext/quotas')
      return body.data.find((each) => each.name === name) ?? assert.fail()
    }

    async function agentsOf(caller: QuotaWorkspace) {
      const { limit, allowed, used } = await quotaOf(caller, 'agents')
      return { limit, allowed, used }
    }

    async function allow({ workspace }: QuotaWorkspace, value: string, name = 'agents') {
      const deps = { databases: service.databases, clock: systemClock }
      await setLimit(deps, { workspace, name, value })
      ahead += 15_000
    }

    const clientOf = ({ key }: QuotaWorkspace) =>
      new Anthropic({ baseURL: service.base, apiKey: key, maxRetries: 0 })

    verifies(
      'limits/quotas/agents',
      'of 20 agents that are created at once a workspace gets as many as its quota, and room when one is archived',
      async () => {
        const caller = await workspaceOf()
        const other = await workspaceOf()
        assert.deepEqual(await agentsOf(caller), { limit: null, allowed: null, used: 0 })
        await allow(caller, '5')
        const made = await Promise.all(Array.from({ length: 20 }, () => newAgent(caller)))
        const agents = made.filter(({ status }) => status === 200)
        assert.equal(agents.length, 5)
        const refused = made.filter(({ status }) => status === 403)
        assert.equal(refused.length, 15)
        const { error } = refused[0]?.body ?? assert.fail()
        assert.equal(error.details.error_code, 'quota_exceeded')
        assert.equal(
          error.message,
          'the quota agents of this workspace is 5: 5 are used, and this needs 1 more; archive agents that are not needed, or ask an admin of the workspace or the operator for more',
        )
        assert.deepEqual(await agentsOf(caller), { limit: 5, allowed: 5, used: 5 })
        await caller.ask('POST', `/v1/agents/${agents[0]?.body.id}/archive`)
        assert.equal((await newAgent(caller)).status, 200)
        assert.equal((await newAgent(caller)).status, 403)
        assert.equal((await newAgent(other)).status, 200)
        await allow(caller, 'default')
        assert.equal((await newAgent(caller)).status, 200)
      },
    )

    verifies(
      'limits/quotas/agents',
      'the OpenAI surface counts agents and sessions with those of /v1',
      async () => {
        const caller = await workspaceOf()
        await allow(caller, '1')
        const refusalOf = async (path: string, body: object) => {
          const answer = await caller.ask<{ error?: { code: string } }>('POST', path, body)
          return [answer.status, answer.body.error?.code]
        }
        const agents = '/openai/v1/agents'
        const agent = { model: 'offline' }
        assert.deepEqual(await refusalOf(agents, agent), [200, undefined])
        assert.deepEqual(await refusalOf(agents, agent), [403, 'forbidden'])
        assert.equal((await newAgent(caller)).status, 403)
        await allow(caller, '1', 'sessions_daily')
        const session = { agent, environment: { type: 'openai_hosted' } }
        assert.deepEqual(await refusalOf(`${agents}/sessions`, session), [200, undefined])
        assert.deepEqual(await refusalOf(`${agents}/sessions`, session), [403, 'forbidden'])
        assert.equal((await agentsOf(caller)).used, 1)
      },
    )

    verifies(
      ['limits/quotas/bytes', 'limits/quotas/list'],
      'of 16 uploads that come together as many are taken as fit, also beside skills and memories, and what is deleted is given back',
      async () => {
        const caller = await workspaceOf()
        const { files, beta } = clientOf(caller)
        const usual = await quotaOf(caller, 'stored_bytes')
        assert.deepEqual([usual.source, usual.value, usual.used], ['server', 102_400 * 2 ** 20, 0])
        await caller.ask('POST', '/v1/ext/quotas/stored_bytes', { limit: 5_000 })
        const upload = async () => files.upload({ file: await toFile(Buffer.alloc(1_000), 'x') })
        const all = await Promise.allSettled(Array.from({ length: 16 }, upload))
        const made = all.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
        assert.equal(made.length, 5)
        for (const each of all)
          if (each.status === 'rejected')
            assert.ok(each.reason instanceof StorageQuotaExceededError)
        const full = await quotaOf(caller, 'stored_bytes')
        assert.deepEqual([full.source, full.value, full.used], ['workspace', 5_000, 5_000])
        const { id: store } = await beta.memoryStores.create({ name: 'notes' })
        const remember = () =>
          beta.memoryStores.memories.create(store, { path: '/a', content: 'some words' })
        await assert.rejects(
          remember(),
          /the quota stored_bytes of this workspace is 5000: 5000 are/,
        )
        await files.delete(made[0]?.id ?? '')
        await remember()
        assert.equal((await quotaOf(caller, 'stored_bytes')).used, 4_010)
        await assert.rejects(upload(), StorageQuotaExceededError)
        await beta.memoryStores.delete(store)
        await upload()
      },
    )

    verifies(
      'limits/quotas/sessions',
      'sessions of a day and memory stores are refused beyond their quota, by names and numbers',
      async () => {
        const caller = await workspaceOf()
        const { beta } = clientOf(caller)
        await allow(caller, '1', 'sessions_daily')
        await allow(caller, '1', 'memory_stores')
        const agent = await newAgent(caller)
        const environment = await beta.environments.create({ name: fresh('environment') })
        const create = () =>
          beta.sessions.create({ agent: agent.body.id, environment_id: environment.id })
        await create()
        await assert.rejects(create(), /quota sessions_daily of this workspace is 1/)
        assert.equal((await quotaOf(caller, 'sessions_daily')).used, 1)
        await beta.memoryStores.create({ name: 'one' })
        await assert.rejects(
          beta.memoryStores.create({ name: 'two' }),
          /quota memory_stores of this workspace is 1: 1 are used/,
        )
      },
    )

    verifies(
      'limits/quotas/at-once',
      'streams and running sessions are bounded at once: a stream beyond is refused, a session beyond waits',
      async () => {
        const caller = await workspaceOf()
        const { beta } = clientOf(caller)
        const agent = await newAgent(caller)
        const environment = await beta.environments.create({ name: fresh('environment') })
        const session = await beta.sessions.create({
          agent: agent.body.id,
          environment_id: environment.id,
        })
        const limit = (name: string, value: number | null) =>
          caller.ask('POST', `/v1/ext/quotas/${name}`, { limit: value })
        await limit('streams', 1)
        await limit('sessions_running', 0)
        const open = await beta.sessions.events.stream(session.id)
        assert.equal((await quotaOf(caller, 'streams')).used, 1)
        await assert.rejects(beta.sessions.events.stream(session.id), (error) => {
          assert.ok(error instanceof RateLimitError)
          assert.match(error.message, /room for, 1 in this process/)
          return Number(error.headers.get('retry-after')) > 0
        })
        await beta.sessions.events.send(session.id, {
          events: [{ type: 'user.message', content: [{ type: 'text', text: 'say: x' }] }],
        })
        const { data } = await beta.sessions.events.list(session.id)
        assert.ok(
          data.every(({ type }) => type !== 'session.status_running'),
          'it waits',
        )
        await limit('sessions_running', null)
        for await (const event of open) if (event.type === 'session.status_idle') break
        const running = await quotaOf(caller, 'sessions_running')
        assert.deepEqual([running.source, running.limit], ['server', running.value])
      },
    )

    verifies(
      'limits/quotas/who',
      'an admin key lowers a quota at once, and cannot raise what the operator allows; a plain key only reads',
      async () => {
        const caller = await workspaceOf()
        const set = (limit: number | null) => caller.ask('POST', '/v1/ext/quotas/agents', { limit })
        assert.equal((await set(1)).status, 200)
        assert.equal((await newAgent(caller)).status, 200)
        assert.equal((await newAgent(caller)).status, 403)
        await allow(caller, '2')
        await set(100)
        assert.deepEqual(await agentsOf(caller), { limit: 100, allowed: 2, used: 1 })
        assert.equal((await newAgent(caller)).status, 200)
        assert.equal((await newAgent(caller)).status, 403)
        await set(null)
        assert.deepEqual(await agentsOf(caller), { limit: 2, allowed: 2, used: 2 })
        const plain = await caller.ask<{ key: string }>('POST', '/v1/ext/api_keys', { name: 'x' })
        const asPlain = callerAt(service.base, plain.body.key)
        assert.equal((await asPlain.ask('GET', '/v1/ext/quotas')).status, 200)
        const change = await asPlain.ask('POST', '/v1/ext/quotas/agents', { limit: 9 })
        assert.equal(change.status, 403)
        assert.equal((await caller.ask('POST', '/v1/ext/quotas/mice', { limit: 1 })).status, 404)
        await assert.rejects(allow(caller, 'many'), /"many" is not a number of agents/)
      },
    )
  })
