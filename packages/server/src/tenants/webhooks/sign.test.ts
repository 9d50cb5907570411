import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import { newSecret, signedHeaders } from './sign.ts'

const client = new Anthropic({ apiKey: 'none' })
const body = '{"type":"event","id":"whevt_1","data":{"type":"agent.created","id":"agent_1"}}'
const letter = { id: 'whevt_1', body }
const signedNow = (secrets: string[]) => signedHeaders(letter, secrets, Date.now())

const unwrap = (text: string, headers: Record<string, string>, key: string) =>
  client.beta.webhooks.unwrap(text, { headers, key })

// verifies: webhooks/verified
describe('a signed webhook', () => {
  it('is believed by the official client', () => {
    const secret = newSecret()
    assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
    const event = unwrap(body, signedNow([secret]), secret)
    assert.equal(event.data.type, 'agent.created')
    const plain = secret.slice('whsec_'.length)
    assert.ok(unwrap(body, signedNow([plain]), secret))
  })

  it('is not, when a byte of body or id is another, or the key is', () => {
    const secret = newSecret()
    const headers = signedNow([secret])
    const none = /No matching signature/
    assert.throws(() => unwrap(`${body} `, headers, secret), none)
    assert.throws(() => unwrap(body, { ...headers, 'webhook-id': 'whevt_2' }, secret), none)
    assert.throws(() => unwrap(body, headers, newSecret()), none)
  })

  it('is stale after five minutes, and not before', () => {
    const secret = newSecret()
    const at = (seconds: number) => signedHeaders(letter, [secret], Date.now() + seconds * 1000)
    assert.ok(unwrap(body, at(-290), secret))
    assert.throws(() => unwrap(body, at(-310), secret), /too old/)
    assert.throws(() => unwrap(body, at(310), secret), /too new/)
  })

  it('is believed under either secret while one gives way to another', () => {
    const [before, after] = [newSecret(), newSecret()]
    const headers = signedNow([after, before])
    assert.ok(unwrap(body, headers, before))
    assert.ok(unwrap(body, headers, after))
    assert.throws(() => unwrap(body, signedNow([after]), before))
  })
})
