/** Rate limits of workspaces, as callers see them. */
import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import { systemClock } from '@steward/base/time.ts'
import { callerAt } from '../caller.ts'
import type { TestService } from '../service.ts'
import { adminKey, boot, databases } from '../service.ts'
import { openStream } from '../reader.ts'
import { fresh, newSession } from '../turns.ts'
import { until } from '../until.ts'
import { verifies } from '../verifies.ts'
import { acknowledge, newPool, poll, sessionIn, tokenOf } from '../workers.ts'

const names = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'] as const

/** The three headers as numbers; NaN for a missing header. */
function limitsIn(answer: { headers: Headers }) {
  const [limit, remaining, reset] = names.map((name) => {
    const { headers } = answer
    // The OpenAI surface has names of its own.
    return Number(headers.get(name) ?? headers.get(`${name}-requests`) ?? 'none')
  })
  return { limit, remaining, reset }
}

const isShown = (answer: { headers: Headers }): boolean =>
  names.every((name) => /^\d+$/.test(answer.headers.get(name) ?? ''))

for (const database of databases)
  describe(`rate limits, on ${database}`, () => {
    let service: TestService
    before(async () => {
      // Limits for a day: a test ends before anything is refilled.
      const env = { RATE_LIMITS: 'reads:200/d,writes:40/d,sessions:4/d,uploads:3/d' }
      service = await boot(database, { env })
    })
    after(() => service.close())

    const anyone = async () => {
      const { key } = await service.otherWorkspace(fresh('workspace'))
      const caller = callerAt(service.base, key)
      return { ...service, ...caller, key, raw: rawFor(key) }
    }
    const rawFor =
      (key: string): TestService['raw'] =>
      (method, path, body, headers) =>
        service.raw(method, path, body, { 'x-api-key': key, ...headers })
    type RateCaller = Awaited<ReturnType<typeof anyone>>

    const newAgent = () => ({ name: fresh('agent'), model: 'offline', tools: [] })
    const exhaust = async ({ raw }: RateCaller) => {
      const answers = await Promise.all(
        Array.from({ length: 45 }, () => raw('POST', '/v1/agents', newAgent())),
      )
      const statuses = answers.map(({ status }) => status)
      await Promise.all(answers.map((each) => each.text()))
      return statuses
    }

    verifies(
      'openai/rate-limits',
      'the OpenAI surface shows them under the names of its vendor',
      async () => {
        const { raw } = await anyone()
        const { headers } = await raw('GET', '/openai/v1/agents')
        assert.deepEqual(
          ['limit', 'remaining'].map((name) => headers.get(`x-ratelimit-${name}-requests`)),
          ['200', '199'],
        )
        assert.match(headers.get('x-ratelimit-reset-requests') ?? '', /^\d+m?s$/)
        assert.equal(headers.get('x-ratelimit-limit'), null)
      },
    )

    verifies(
      [
        'limits/rate/per-tenant',
        'limits/rate/header-limit',
        'limits/rate/header-remaining',
        'limits/rate/header-reset',
      ],
      'each answer says how many requests remain, for all keys of a workspace together',
      async () => {
        const caller = await anyone()
        const first = await caller.ask('GET', '/v1/agents')
        assert.deepEqual([limitsIn(first).limit, limitsIn(first).remaining], [200, 199])
        const day = 86_400
        const interval = day / 200
        assert.ok(Number(limitsIn(first).reset) >= Date.now() / 1_000)
        assert.ok(Number(limitsIn(first).reset) <= Date.now() / 1_000 + 12 * interval + 1)
        const made = await caller.ask<{ key: string }>('POST', '/v1/ext/api_keys', { name: 'two' })
        const second = await callerAt(service.base, made.body.key).ask('GET', '/v1/agents')
        assert.equal(limitsIn(second).remaining, 198)
        assert.equal(limitsIn(made).limit, 40)
      },
    )

    verifies(
      ['limits/rate/refusal', 'limits/rate/burst', 'errors/type/rate-limited'],
      'an excess request is refused with the class, the limit and the time to come again, and another workspace is served',
      async () => {
        const [caller, other] = [await anyone(), await anyone()]
        const statuses = await exhaust(caller)
        assert.equal(statuses.filter((status) => status === 200).length, 40)
        assert.equal(statuses.filter((status) => status === 429).length, 5)
        const refused = await caller.ask<RateRefusal>('POST', '/v1/agents', newAgent())
        assert.equal(refused.status, 429)
        assert.equal(refused.body.error.type, 'rate_limited')
        const wait = Number(refused.headers.get('retry-after'))
        assert.ok(Number.isInteger(wait) && wait > 0 && wait <= 86_400)
        assert.equal(
          refused.body.error.message,
          `the limit of this workspace is 40 writes a day: try again in ${wait} seconds`,
        )
        assert.equal(refused.headers.get('x-should-retry'), null)
        assert.equal(limitsIn(refused).remaining, 0)
        await assert.rejects(
          () => caller.client.beta.agents.create({ ...newAgent(), model: 'offline' }),
          (error) =>
            error instanceof Anthropic.RateLimitError && /rate_limit_error/.test(error.message),
        )
        assert.equal((await caller.ask('GET', '/v1/agents')).status, 200)
        assert.equal((await other.ask('POST', '/v1/agents', newAgent())).status, 200)
      },
    )

    verifies('limits/rate/classes', 'requests of the OpenAI surface count as on /v1', async () => {
      const caller = await anyone()
      const sessions = '/openai/v1/agents/sessions'
      const asked = { agent: { model: 'offline' }, environment: { type: 'openai_hosted' } }
      const created = await caller.ask('POST', sessions, asked)
      assert.deepEqual([limitsIn(created).limit, limitsIn(created).remaining], [4, 3])
      const cancel = { events: [{ type: 'agent.session.input.cancel' }] }
      const settled = await caller.raw('POST', `${sessions}/${created.body.id}/events`, cancel)
      assert.deepEqual([settled.status, limitsIn(settled).remaining], [202, 40])
      assert.equal(limitsIn(await caller.ask('POST', '/openai/v1/vaults', {})).remaining, 39)
      assert.equal(limitsIn(await caller.ask('GET', sessions)).limit, 200)
      for (let n = 0; n < 3; n++)
        assert.equal((await caller.ask('POST', sessions, asked)).status, 200)
      const refused = await caller.ask<RateRefusal>('POST', sessions, asked)
      assert.equal(refused.status, 429)
      assert.equal(refused.body.error.type, 'rate_limit_error')
    })

    verifies(
      'limits/rate/classes',
      'sessions that are created and files that are uploaded have limits of their own',
      async () => {
        const caller = await anyone()
        const session = await newSession(caller)
        const { body } = await caller.ask('GET', `/v1/sessions/${session}`)
        const again = { agent: body['agent'], environment_id: body['environment_id'] }
        const agent = (again.agent as { id: string }).id
        const create = () => caller.ask('POST', '/v1/sessions', { ...again, agent })
        const made = [await create(), await create(), await create(), await create()]
        assert.deepEqual(
          made.map(({ status }) => status),
          [200, 200, 200, 429],
        )
        assert.equal(limitsIn(made[0] ?? assert.fail()).limit, 4)
        const upload = async () => {
          const form = new FormData()
          form.set('file', new File(['x'], 'x.txt'))
          const headers = { 'x-api-key': caller.key }
          return fetch(`${service.base}/v1/files`, { method: 'POST', body: form, headers })
        }
        const uploads = [await upload(), await upload(), await upload(), await upload()]
        assert.deepEqual(
          uploads.map(({ status }) => status),
          [200, 200, 200, 429],
        )
        assert.equal(uploads.every(isShown), true)
      },
    )

    verifies(
      'limits/rate/headers',
      'every answer to a known caller has the headers: JSON, none, streams, bytes, HEAD and refusals',
      async () => {
        const caller = await anyone()
        const session = await newSession(caller)
        const form = new FormData()
        form.set('file', new File(['some text'], 'some.txt'))
        const uploaded = await fetch(`${service.base}/v1/files`, {
          method: 'POST',
          body: form,
          headers: { 'x-api-key': caller.key },
        })
        const file = ((await uploaded.json()) as { id: string }).id
        await using stream = await openStream(
          { ...service, raw: caller.raw },
          `/v1/sessions/${session}/events/stream`,
        )
        const answers: Record<string, Response> = {
          json: await caller.raw('GET', '/v1/agents'),
          'without a body': await caller.raw('POST', `/v1/sessions/${session}/events`, {
            events: [{ type: 'user.message', content: [{ type: 'text', text: 'say: x' }] }],
          }),
          stream: stream.response,
          'in pieces': await caller.raw('GET', `/v1/sessions/${session}/log`),
          bytes: await caller.raw('GET', `/v1/files/${file}/content`),
          HEAD: await caller.raw('HEAD', '/v1/agents'),
          'HEAD of bytes': await caller.raw('HEAD', `/v1/files/${file}/content`),
          400: await caller.raw('POST', '/v1/agents', { name: 1 }),
          'not JSON': await caller.raw('POST', '/v1/agents', '{'),
          404: await caller.raw('GET', '/v1/agents/agent_none'),
          403: await caller.raw('GET', '/v1/agents', undefined, {
            'anthropic-workspace-id': 'wrkspc_other',
          }),
          413: await caller.raw('POST', '/v1/vaults', `"${'x'.repeat(2 ** 20)}"`),
        }
        for (const [name, answer] of Object.entries(answers))
          assert.ok(isShown(answer), `${name}: ${answer.status}`)
        assert.equal(answers['403']?.status, 403)
        assert.equal(answers['413']?.status, 413)
        const unknown = [
          await caller.raw('GET', '/healthz'),
          await caller.raw('GET', '/v1/agents', undefined, { 'x-api-key': 'none' }),
        ]
        assert.deepEqual(unknown.map(isShown), [false, false])
      },
    )

    verifies(
      'limits/rate/never',
      'an interrupt, a result, a cancellation and all of a worker pass a limit that is reached',
      async () => {
        const caller = await anyone()
        const session = await newSession(caller)
        const pool = await newPool(caller)
        await sessionIn(caller, pool, {})
        await exhaust(caller)
        for (let n = 0; n < 200; n++) void (await (await caller.raw('GET', '/v1/agents')).text())
        const events = (event: object) =>
          caller.ask('POST', `/v1/sessions/${session}/events`, { events: [event] })
        const interrupt = { type: 'user.interrupt' }
        const message = { type: 'user.message', content: [{ type: 'text', text: 'say: x' }] }
        assert.equal((await events(interrupt)).status, 202)
        assert.equal((await events(message)).status, 429)
        const both = await caller.ask('POST', `/v1/sessions/${session}/events`, {
          events: [interrupt, message],
        })
        assert.equal(both.status, 429)
        const result = { type: 'user.custom_tool_result', custom_tool_use_id: 'sevt_none' }
        assert.equal((await events(result)).status, 400)
        assert.equal((await caller.ask('POST', `/v1/sessions/${session}/cancel`)).status, 200)
        const item = await poll(caller, pool)
        assert.ok(item)
        await acknowledge(caller, pool, item.id)
        const asClaim = { 'x-api-key': '', authorization: `Bearer ${tokenOf(item.secret)}` }
        const work = `${pool.path}/work/${item.id}`
        for (let n = 0; n < 5; n++) {
          const beat = await caller.ask('POST', `${work}/heartbeat`, undefined, asClaim)
          assert.notEqual(beat.status, 429)
          assert.equal(
            (await caller.raw('GET', `/v1/sessions/${item.data.id}`, undefined, asClaim)).status,
            200,
          )
        }
        assert.notEqual((await caller.ask('POST', `${work}/stop`, {}, asClaim)).status, 429)
        assert.equal((await caller.ask('GET', '/v1/agents')).status, 429)
        assert.equal((await fetch(`${service.base}/healthz`)).status, 200)
      },
    )
  })

type RateRefusal = { error: { type: string; message: string } }

describe('the official client at a limit', () => {
  verifies(
    'limits/rate/repeat',
    '15 calls at once at 10 a minute all succeed, because each is repeated at the time that the answer names',
    async () => {
      const calls = 15
      // After all calls are answered, a minute takes half a second, for the server and for the waiting client.
      const pace = 120
      const begin = Date.now()
      const answered = Promise.withResolvers<number>()
      let startedAt = Number.POSITIVE_INFINITY
      void answered.promise.then((at) => (startedAt = at))
      const passed = () => Math.max(0, performance.now() - startedAt) * pace
      const clock = { ...systemClock, now: () => begin + Math.floor(passed()) }
      const service = await boot('sqlite', {
        env: { RATE_LIMITS: 'reads:10/m' },
        overrides: { clock },
      })
      const statuses: number[] = []
      try {
        const client = new Anthropic({
          baseURL: service.base,
          apiKey: adminKey,
          maxRetries: 2,
          async fetch(url, init) {
            const answer = await fetch(url, init)
            if (statuses.push(answer.status) === calls) answered.resolve(performance.now())
            if (answer.status !== 429) return answer
            await answered.promise
            const headers = new Headers(answer.headers)
            const seconds = Number(headers.get('retry-after'))
            headers.set('retry-after-ms', String((seconds * 1_000) / pace))
            return new Response(await answer.text(), { status: 429, headers })
          },
        })
        await Promise.all(Array.from({ length: calls }, () => client.beta.agents.list()))
        const first = statuses.slice(0, calls)
        assert.equal(first.filter((status) => status === 429).length, 5)
      } finally {
        // The limits must refill before the service is used again.
        await until(() => passed() > 60_000)
        await service.close()
      }
    },
  )
})

describe('limits without a setting', () => {
  verifies(
    'limits/rate/off-by-default',
    'there are none for one workspace, and the usual ones soon after there are several',
    async () => {
      let ahead = 0
      const clock = { ...systemClock, now: () => Date.now() + ahead }
      const env = { RATE_LIMITS: '' }
      const service = await boot('sqlite', { env, overrides: { clock } })
      try {
        const limitShown = async () => {
          const { headers } = await service.ask('GET', '/v1/agents')
          return headers.get('x-ratelimit-limit')
        }
        for (let n = 0; n < 5; n++) assert.equal(await limitShown(), null)
        await service.otherWorkspace('another')
        ahead = 15_000
        await until(async () => (await limitShown()) === '6000')
        const { headers } = await service.ask('POST', '/v1/agents', {})
        assert.equal(headers.get('x-ratelimit-limit'), '3000')
      } finally {
        await service.close()
      }
    },
  )
})
