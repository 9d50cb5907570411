import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import { newSecret, signedHeaders } from '../../../tenants/webhooks/sign.ts'
import { integrationContract } from '../contract.ts'
import { isJsonPointer, valueAt } from './json-pointer.ts'
import type { WebhookConfig } from './signed-webhook.ts'
import { signedWebhook } from './signed-webhook.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

const config: WebhookConfig = {
  mapping: {
    scope: '/issue/number',
    author: '/comment/user',
    text: '/comment/body',
    context: { title: '/issue/title', earlier: '/issue/comments/0' },
  },
  authors: ['ada'],
}

integrationContract('the signed webhook', {
  isExact: true,
  integration: signedWebhook,
  isTimed: true,
  newSecret,
  configFor: (author) => ({ ...config, authors: [author] }),
  payload: ({ scope, author, text }) =>
    JSON.stringify({ issue: { number: scope }, comment: { user: author, body: text } }),
  sign: ({ id, body }, secret, nowMs) => ({
    headers: signedHeaders({ id, body }, [secret], nowMs),
    body: bytes(body),
  }),
})

const now = Date.UTC(2030, 0, 1)
const issue = { number: 7, title: 'Build fails', comments: ['since Monday'] }
const comment = { user: 'ada', body: 'Mend it.' }
const read = (payload: object, mapping = config.mapping) =>
  signedWebhook.read(bytes(JSON.stringify(payload)))({ ...config, mapping })

describe('the mapping of a signed webhook', () => {
  it('takes numbers as names and shows what is missing as null', () => {
    const message = {
      kind: 'message',
      scope: '7',
      author: 'ada',
      text: 'Mend it.',
      context: { title: 'Build fails', earlier: 'since Monday' },
      target: {},
    }
    assert.deepEqual(read({ issue, comment }), message)
    const { comments: _, ...short } = issue
    const context = { ...message.context, earlier: null }
    assert.deepEqual(read({ issue: short, comment }), { ...message, context })
  })

  it('allows nobody while no author is listed', () => {
    const body = bytes(JSON.stringify({ issue, comment }))
    const stranger = { kind: 'ignored', reason: 'stranger', field: '/comment/user' }
    assert.deepEqual(signedWebhook.read(body)({ ...config, authors: [] }), stranger)
  })

  it('names the field that is unusable', () => {
    const malformed = (field: string) => ({ kind: 'ignored', reason: 'malformed', field })
    for (const number of [null, '', 1.5, 2 ** 60, {}, 'x'.repeat(513), '\ud800', 'a\0b']) {
      const found = read({ issue: { ...issue, number }, comment })
      assert.deepEqual(found, malformed('/issue/number'), JSON.stringify(number))
    }
    for (const body of [undefined, ' ', 7, ['x'], 'x'.repeat(100_001)]) {
      assert.deepEqual(read({ issue, comment: { ...comment, body } }), malformed('/comment/body'))
    }
    const nested = read({ issue: { ...issue, title: { text: 'x' } }, comment })
    assert.deepEqual(nested, malformed('/issue/title'))
  })

  it('takes a text of whole characters alone', () => {
    const message = read({ issue, comment: { ...comment, body: 'Mend \ud800it.' } })
    assert.equal(message.kind === 'message' && message.text, 'Mend \ufffdit.')
    const body = bytes(JSON.stringify({ issue, comment }))
    const half = body.map((byte) => (byte === 'M'.charCodeAt(0) ? 0xff : byte))
    const malformed = { kind: 'ignored', reason: 'malformed', field: '' }
    assert.deepEqual(signedWebhook.read(half)(config), malformed)
  })

  it('shortens the context of a payload of 25 MB, and says by how much', () => {
    const title = 'x'.repeat(25 * 1024 * 1024)
    const message = read({ issue: { ...issue, title }, comment })
    assert.ok(message.kind === 'message')
    const shown = message.context['title']
    assert.ok(typeof shown === 'string')
    assert.ok(shown.length < 20_100)
    assert.ok(shown.endsWith(` [${title.length - 20_000} more characters]`))
  })

  it('reads own properties alone', () => {
    const document = { 'a/b': { '~': [1, 2] }, '': 3, '~1': 4 }
    assert.equal(valueAt(document, '/a~1b/~0/1'), 2)
    assert.equal(valueAt(document, '/'), 3)
    assert.equal(valueAt(document, '/~01'), 4)
    assert.equal(valueAt(document, ''), document)
    for (const none of ['/__proto__', '/constructor/name', '/a~1b/~0/length', '/a~1b/~0/01']) {
      assert.equal(valueAt(document, none), undefined, none)
    }
    for (const pointer of ['', '/', '/a/0', '/a~0~1']) assert.ok(isJsonPointer(pointer))
    for (const other of ['a', '/~', '/~2', '$.a']) assert.ok(!isJsonPointer(other))
  })
})

describe('the signature of a signed webhook', () => {
  it('holds for five minutes to both sides, and its text cannot be split in another way', () => {
    const secret = newSecret()
    const body = '{}'
    const headers = signedHeaders({ id: 'a', body }, [secret], now)
    const at = (ms: number) =>
      signedWebhook.check({ headers, body: bytes(body) }, [secret], now + ms)
    for (const ms of [-300_000, 0, 300_000]) assert.equal(at(ms).kind, 'genuine')
    for (const ms of [-301_000, 301_000]) {
      assert.deepEqual(at(ms), { kind: 'refused', reason: 'stale' })
    }
    const split = signedHeaders({ id: `a.${now / 1000}`, body }, [secret], now)
    const check = signedWebhook.check({ headers: split, body: bytes(body) }, [secret], now)
    assert.deepEqual(check, { kind: 'refused', reason: 'unsigned' })
  })

  it('is looked for among eight of version 1, and one of another length is none', () => {
    const secret = newSecret()
    const headers = signedHeaders({ id: 'a', body: '{}' }, [secret], now)
    const genuine = headers['webhook-signature'] ?? ''
    const other = `v1,${Buffer.alloc(32).toString('base64')} `
    const checked = (signature: string) => {
      const given = { ...headers, 'webhook-signature': signature }
      const check = signedWebhook.check({ headers: given, body: bytes('{}') }, [secret], now)
      return check.kind === 'refused' ? check.reason : check.kind
    }
    assert.equal(checked(`v1,AAAA v1, ${other.repeat(5)}${genuine}`), 'genuine')
    assert.equal(checked(other.repeat(8) + genuine), 'forged')
    for (const none of ['v1,AAAA', `v1a${genuine.slice(2)}`, `v2${genuine.slice(2)}`]) {
      assert.equal(checked(none), 'unsigned', none)
    }
  })

  it('on a telling is one that the official client believes', () => {
    const secret = newSecret()
    const thread = { session: 'sesn_1', scope: '7', target: {}, notes: {} }
    const call = signedWebhook.callFor({ kind: 'reply', id: 'sevt_1', text: 'Done.' }, thread)
    const body = call?.body ?? ''
    const headers = signedHeaders({ id: 'sevt_1', body }, [secret], Date.now())
    const client = new Anthropic({ apiKey: 'none' })
    const event = client.beta.webhooks.unwrap(body, { headers: { ...headers }, key: secret })
    const told = { session_id: 'sesn_1', scope: '7', id: 'sevt_1', text: 'Done.' }
    assert.deepEqual(event, { type: 'reply', ...told })
  })
})
