import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { describe, it } from 'node:test'
import { EventListQuery, StreamQuery } from '@steward/protocol/event-queries.ts'
import { PostEvents } from '@steward/protocol/events.ts'
import { SessionCreate } from '@steward/protocol/sessions.ts'
import { z } from 'zod'
import { PlatformError } from '../../core/errors.ts'
import { parseInput, parseJson, readText } from './body.ts'
import { plainBody } from '../limits.ts'
import { parseQuery, queryObject } from '../query.ts'

function complaint(schema: z.ZodType, input: unknown): string {
  try {
    parseInput(schema, input)
  } catch (error) {
    assert.ok(error instanceof PlatformError)
    assert.equal(error.kind, 'invalid_request')
    return error.message
  }
  return assert.fail('nothing was refused')
}

describe('a body', () => {
  it('that broke off before it was asked for is refused', async () => {
    const body = new Readable({ read: () => {} })
    body.push('{')
    body.destroy()
    await once(body, 'close')
    const room = { tenant: 'wrkspc_test', hold: () => {} }
    await assert.rejects(readText(body, plainBody, room), { message: 'the body broke off' })
  })

  it('names every unknown field, with its path', () => {
    const Schema = z.strictObject({ name: z.string(), inner: z.strictObject({ a: z.string() }) })
    const input = { name: 'x', one: 1, two: 2, inner: { a: 'x', deep: 3 } }
    assert.equal(
      complaint(Schema, input),
      'inner.deep: unknown field; one: unknown field; two: unknown field',
    )
  })

  it('names a field that is missing or of another type', () => {
    assert.match(complaint(SessionCreate, {}), /^agent: /)
    const message = complaint(SessionCreate, { agent: 'agent_1', title: 5, metadata: { a: 1 } })
    assert.match(message, /title: .*string/)
    assert.match(message, /metadata\.a: .*string/)
    assert.ok(complaint(SessionCreate, 'text').length > 0)
    assert.ok(complaint(SessionCreate, null).length > 0)
    assert.ok(complaint(SessionCreate, []).length > 0)
  })

  it('names the deep field of the branch of a union that was meant', () => {
    const post = (event: object) => complaint(PostEvents, { events: [event] })
    const text = { type: 'user.message', content: [{ type: 'text', text: 'x', extra: 1 }] }
    assert.equal(post(text), 'events.0.content.0.extra: unknown field')
    const image = {
      type: 'user.message',
      content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png' } }],
    }
    assert.match(post(image), /^events\.0\.content\.0\.source\.data: /)
    const agent = { type: 'agent_with_overrides', id: 'agent_1', tools: [{ type: 'custom' }] }
    assert.match(complaint(SessionCreate, { agent }), /agent\.tools\.0\.name: /)
    assert.match(complaint(SessionCreate, { agent: { type: 'agent' } }), /^agent\.id: /)
  })

  it('names an unknown event type', () => {
    const message = complaint(PostEvents, { events: [{ type: 'user.nothing' }] })
    assert.match(message, /^events\.0\.type: "user\.nothing" /)
    assert.match(complaint(PostEvents, { events: [{}] }), /^events\.0\.type: /)
    assert.match(complaint(PostEvents, { events: ['x'] }), /^events\.0: /)
  })

  it('is JSON, or says why not; nothing counts as an empty object', () => {
    assert.deepEqual(parseJson(' \n'), {})
    assert.deepEqual(parseJson('{"a":1}'), { a: 1 })
    for (const text of ['{', '{"a":1}x', "{'a':1}", 'undefined', '\u0000']) {
      assert.throws(
        () => parseJson(text),
        (error) =>
          error instanceof PlatformError &&
          error.kind === 'invalid_request' &&
          /^the body is not JSON: (it|line \d+, column \d+) /.test(error.message),
      )
    }
  })

  it('repeats nothing of a body in which a secret may be in the wrong field', () => {
    const secret = 'ghp_16C7e42F292c6912E7710c838347Ae178B4a'
    const broken = [`{"token":"${secret}`, `{"token":${secret}}`, `{'token':"${secret}"}`, secret]
    for (const text of broken) {
      assert.throws(
        () => parseJson(text),
        (error: Error) => !error.message.includes(secret.slice(0, 6)),
      )
    }
    const auth = z.strictObject({ auth: z.strictObject({}) })
    const told = complaint(auth, { auth: { [secret]: 1, colour: 1, oauth2: 1 } })
    assert.ok(!told.includes(secret))
    assert.match(told, /auth\.colour: unknown field; auth\.oauth2: unknown field/)
  })

  it('keeps its message short when very much is wrong', () => {
    const events = Array.from({ length: 1000 }, () => ({ type: 'x'.repeat(1000) }))
    assert.ok(complaint(PostEvents, { events }).length < 20_000)
  })
})

describe('a query', () => {
  const query = (text: string) => queryObject(new URLSearchParams(text))
  const types = (text: string) => parseInput(EventListQuery, query(text)).types

  it('takes a list in three spellings', () => {
    const expected = ['agent.message', 'user.message']
    assert.deepEqual(types('types[]=agent.message&types[]=user.message'), expected)
    assert.deepEqual(types('types%5B%5D=agent.message&types%5B%5D=user.message'), expected)
    assert.deepEqual(types('types=agent.message&types=user.message'), expected)
    assert.deepEqual(types('types=agent.message,user.message'), expected)
    assert.deepEqual(types('types[]=agent.message'), ['agent.message'])
    assert.equal(types(''), undefined)
  })

  it('says that a value was sent twice', () => {
    const at = 'created_at[gt]=2026-01-01T00:00:00Z'
    const problem = (text: string) => {
      try {
        return parseQuery(EventListQuery, query(text))
      } catch (error) {
        return error instanceof PlatformError && error.message
      }
    }
    assert.equal(problem(`${at}&${at}`), 'created_at[gt]: takes one value, and was sent twice')
    assert.equal(problem('limit=1&limit=2'), 'limit: takes one value, and was sent twice')
    assert.equal(problem('order=asc&order=desc'), 'order: takes one value, and was sent twice')
    assert.equal(problem('replay=1&replay=0'), 'replay: takes one value, and was sent twice')
    assert.equal(problem('limit[]=1'), 'limit: takes one value, and was sent as a list')
    assert.equal(problem('limit=99999999999999999999'), 'limit: must be at most 1000')
  })

  it('counts an empty value as absent, and ignores what it does not know', () => {
    const parsed = parseInput(EventListQuery, query('limit=&types[]=&page=&beta=true'))
    assert.deepEqual(parsed, { limit: 100, order: 'asc' })
  })

  it('keeps the brackets of a range', () => {
    const at = '2026-01-01T00:00:00Z'
    const parsed = parseInput(
      EventListQuery,
      query(`created_at[gte]=${at}&created_at%5Blt%5D=${at}`),
    )
    assert.equal(parsed['created_at[gte]'], at)
    assert.equal(parsed['created_at[lt]'], at)
    assert.match(complaint(EventListQuery, query('created_at[gt]=soon')), /^created_at\[gt\]: /)
  })

  it('takes a limit from 1 to 1000, and nothing else', () => {
    for (const limit of [1, 1000]) {
      assert.equal(parseInput(EventListQuery, query(`limit=${limit}`)).limit, limit)
    }
    for (const limit of [
      '0',
      '1001',
      '-1',
      '1.5',
      'ten',
      '1&limit=2',
      '1e9',
      '0x10',
      '1e2',
      '%205',
      '%2B5',
    ]) {
      assert.match(complaint(EventListQuery, query(`limit=${limit}`)), /^limit: /, limit)
    }
  })

  it('knows the two orders, and flags in their spellings', () => {
    assert.equal(parseInput(EventListQuery, query('order=desc')).order, 'desc')
    assert.match(complaint(EventListQuery, query('order=up')), /^order: /)
    for (const [text, expected] of [
      ['true', true],
      ['1', true],
      ['false', false],
      ['0', false],
    ] as const) {
      assert.equal(parseInput(StreamQuery, query(`replay=${text}`)).replay, expected)
    }
    assert.match(complaint(StreamQuery, query('replay=yes')), /^replay: /)
  })

  it('takes the kinds of deltas there are', () => {
    const parsed = parseInput(StreamQuery, query('event_deltas[]=agent.message'))
    assert.deepEqual(parsed.event_deltas, ['agent.message'])
    const wrong = query('event_deltas[]=agent.message&event_deltas[]=user.message')
    assert.match(complaint(StreamQuery, wrong), /^event_deltas\.1: /)
  })

  it('takes no name for one of an object’s own', () => {
    const odd = query('__proto__=a&constructor=b&toString=c')
    assert.equal(Object.getPrototypeOf(odd), Object.prototype)
    assert.deepEqual(
      Object.entries(odd).map(([name, value]) => `${name}=${String(value)}`),
      ['__proto__=a', 'constructor=b', 'toString=c'],
    )
  })
})
