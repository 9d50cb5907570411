/** The contract of every adapter of `Integration`. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ExternalThread, Integration, RawDelivery, Telling } from './integration.ts'

export type Payload = { scope: string; author: string; text: string }

export type Subject<Config> = {
  integration: Integration<Config>
  /** True when the signature covers a time. */
  isTimed: boolean
  newSecret: () => string
  /** A configuration that allows only `author`. */
  configFor: (author: string) => Config
  payload: (payload: Payload) => string
  /** The scope of a payload, when it differs from the scope that the payload names. */
  scopeOf?: (scope: string) => string
  /** True when names that differ in case alone are different. */
  isExact?: true
  /** A delivery as the external system sends it, signed at this time. */
  sign: (delivery: { id: string; body: string }, secret: string, nowMs: number) => RawDelivery
}

const now = Date.UTC(2030, 0, 1)
const minute = 60_000
const request: Payload = { scope: 'acme/shop#7', author: 'ada', text: 'Mend the build.' }
const call = { call: 'sevt_3', name: 'deploy', input: '{"to":"production"}' }
const endsOfTurns: Telling[] = [
  { kind: 'reply', id: 'sevt_1', text: 'Done.' },
  { kind: 'error', id: 'sevt_2', message: 'The model does not answer.' },
  { kind: 'question', id: 'sevt_3', needs: 'confirmation', ...call },
  { kind: 'question', id: 'sevt_3', needs: 'answer', ...call },
]
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

export function integrationContract<Config>(name: string, subject: Subject<Config>): void {
  const { integration, isTimed, newSecret, configFor, payload, sign } = subject
  const body = payload(request)
  const sent = (secret: string, id = 'delivery-1') => sign({ id, body }, secret, now)

  describe(`an integration: ${name}`, () => {
    it('believes a signature over the bytes as they came, under each of its secrets', () => {
      const [before, after] = [newSecret(), newSecret()]
      for (const secret of [before, after]) {
        const check = integration.check(sent(secret), [after, before], now)
        assert.equal(check.kind, 'genuine')
        assert.deepEqual(check, integration.check(sent(before), [before], now))
      }
    })

    it('refuses other bytes, other secrets, and everything while it has no secret', () => {
      const secret = newSecret()
      const forged = { kind: 'refused', reason: 'forged' }
      const { headers } = sent(secret)
      const same = JSON.stringify(JSON.parse(body), null, 1)
      for (const other of [`${body} `, same, '']) {
        const check = integration.check({ headers, body: bytes(other) }, [secret], now)
        assert.deepEqual(check, forged, other)
      }
      assert.deepEqual(integration.check(sent(newSecret()), [secret], now), forged)
      assert.deepEqual(integration.check(sent(''), [''], now), forged)
      assert.deepEqual(integration.check(sent(secret), [], now), forged)
    })

    it('refuses a delivery without one of the headers of its signature', () => {
      const secret = newSecret()
      const delivery = sent(secret)
      for (const header of Object.keys(delivery.headers)) {
        const headers = { ...delivery.headers, [header]: undefined }
        const { kind } = integration.check({ ...delivery, headers }, [secret], now)
        assert.equal(kind, 'refused', header)
      }
    })

    it('refuses a delivery long before and long after its signed time', () => {
      const secret = newSecret()
      const stale = { kind: 'refused', reason: 'stale' }
      for (const apart of [-15 * minute, 15 * minute]) {
        const check = integration.check(sent(secret), [secret], now + apart)
        assert.deepEqual(check, isTimed ? stale : integration.check(sent(secret), [secret], now))
      }
    })

    it('reads the request of an allowed author, each time in the same way', () => {
      const read = integration.read(bytes(body))(configFor(request.author))
      assert.ok(read.kind === 'message')
      const { scope, author, text } = read
      const expected = { ...request, scope: subject.scopeOf?.(request.scope) ?? request.scope }
      assert.deepEqual({ scope, author, text }, expected)
      assert.deepEqual(integration.read(bytes(body))(configFor(request.author)), read)
    })

    it('ignores the request of a stranger, however alike the names', () => {
      const others = ['eve', 'ada ', ' ada', 'a', 'ad\u0430', ...(subject.isExact ? ['Ada'] : [])]
      for (const author of others) {
        const other = bytes(payload({ ...request, author }))
        const read = integration.read(other)(configFor(request.author))
        assert.ok(read.kind === 'ignored' && read.reason === 'stranger', author)
      }
    })

    it('ignores a body that is no payload, and never throws', () => {
      const deep = '['.repeat(200_000)
      const nothing = ['', 'null', '[]', '7', '"x"', '{', '{}', '{"__proto__":{}}', deep].map(bytes)
      for (const other of [...nothing, Uint8Array.of(0xff, 0xfe), bytes(body).subarray(1)]) {
        const read = integration.read(other)(configFor(request.author))
        assert.ok(read.kind === 'ignored' && read.reason === 'malformed')
      }
    })

    it('makes the same call for a telling in each attempt, and makes one for every end of a turn', () => {
      const read = integration.read(bytes(body))(configFor(request.author))
      assert.ok(read.kind === 'message')
      const { scope, target } = read
      const thread: ExternalThread = { session: 'sesn_1', scope, target, notes: {} }
      for (const telling of endsOfTurns) {
        const call = integration.callFor(telling, thread)
        assert.ok(call, telling.kind)
        assert.deepEqual(integration.callFor(telling, thread), call)
      }
    })

    it('gives up after a refusal, and asks for a new credential where its own is refused', () => {
      const attempt = { attempts: 1, random: 0, nowMs: now }
      const verdict = (status: number) =>
        integration.verdict({ status, retryAfter: null, body: '{}' }, attempt).kind
      assert.equal(verdict(401), 'needs_reauth')
      assert.equal(verdict(400), 'failed')
      assert.equal(verdict(500), 'again')
      const waits = integration.verdict({ status: 429, retryAfter: '60', body: '' }, attempt)
      assert.deepEqual(waits, { kind: 'again', afterMs: 60_000, heldMs: 60_000 })
    })
  })
}
