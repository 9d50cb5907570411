import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { toModelFailure, type FailedCall } from './failure.ts'

const of = (message: string, more: Partial<FailedCall> = {}) =>
  toModelFailure({ message, overflow: false, sent: true, ...more }, ['sk-0123456789/+'])

void describe('failures', () => {
  void it('reads the status wherever a library puts it', () => {
    const cases: [string, number | undefined][] = [
      ['429 {"type":"error","error":{"type":"rate_limit_error","message":"m"}}', 429],
      ['500 status code (no body)', 500],
      ['404: {"message":"m"}', 404],
      ['OpenAI API error (401): 401 Incorrect API key', 401],
      ['acme API error (503): busy', 503],
      ['{"error":{"code":400,"message":"m","status":"INVALID_ARGUMENT"}}', 400],
      ['got status: UNAVAILABLE. {"error":{"code":503,"message":"m"}}', 503],
      ['Connection error.', undefined],
      ['5000 tokens are too few', undefined],
    ]
    for (const [message, status] of cases) assert.equal(of(message).status, status, message)
  })

  void it('knows an error in the middle of a stream by its name', () => {
    const cases: [string, string, boolean][] = [
      [
        '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
        'overloaded',
        true,
      ],
      ['{"type":"error","error":{"type":"rate_limit_error","message":"m"}}', 'rate_limited', true],
      ['{"type":"error","error":{"type":"api_error","message":"m"}}', 'request_failed', true],
      [
        '{"type":"error","error":{"type":"invalid_request_error","message":"m"}}',
        'request_failed',
        false,
      ],
      ['server_error: The server had an error', 'request_failed', true],
      ['Error Code rate_limit_exceeded: slow', 'rate_limited', true],
      ['insufficient_quota: You exceeded your current quota', 'billing', false],
      ['Provider finish_reason: network_error', 'unreachable', true],
      ['Provider stopped with: MALFORMED_FUNCTION_CALL', 'request_failed', true],
    ]
    for (const [message, kind, retryable] of cases) {
      const failure = of(message)
      assert.deepEqual([failure.kind, failure.retryable], [kind, retryable], message)
    }
  })

  void it('distinguishes an empty account from a limit on the rate', () => {
    const quota = '429: {"message":"You exceeded your current quota","code":"insufficient_quota"}'
    assert.equal(of(quota).kind, 'billing')
    const low = '400 {"error":{"message":"Your credit balance is too low to access the API."}}'
    assert.equal(of(low).kind, 'billing')
    const google = '{"error":{"code":429,"message":"You exceeded your current quota"}}'
    assert.equal(of(google).kind, 'rate_limited')
  })

  void it('knows a bad key that is called a bad request', () => {
    const message =
      '{"error":{"code":400,"message":"API key not valid. Please pass a valid API key."}}'
    assert.equal(of(message).kind, 'authentication')
  })

  void it('waits as long as the body says', () => {
    const body = '{"error":{"code":429,"message":"m","details":[{"retryDelay":"3.2s"}]}}'
    assert.equal(of(body).retryAfterMs, 3200)
    assert.equal(of(body, { retryAfterMs: 10 }).retryAfterMs, 10)
  })

  void it('finds a refused address among its causes', () => {
    const refused = Object.assign(new Error('10.0.0.1 is private'), { code: 'EREFUSEDADDRESS' })
    for (const cause of [
      refused,
      new TypeError('fetch failed', { cause: refused }),
      new Error('x', { cause: new AggregateError([new Error('y'), refused]) }),
    ]) {
      const failure = of('Connection error.', { cause })
      assert.deepEqual([failure.kind, failure.retryable], ['refused_address', false])
    }
    const loop = new Error('loop')
    loop.cause = new Error('back', { cause: loop })
    assert.equal(of('Connection error.', { cause: loop }).kind, 'unreachable')
  })

  void it('does not repeat a request that was never sent', () => {
    const failure = of('Cannot read properties of undefined', { sent: false })
    assert.deepEqual([failure.kind, failure.retryable], ['request_failed', false])
  })

  void it('shows the sentence of the provider, short and without secrets', () => {
    const nested = '{"error":{"code":400,"message":"{\\"error\\":{\\"message\\":\\"inner\\"}}"}}'
    assert.equal(of(nested).message, 'inner')
    const echo = of('401 {"error":{"message":"bad key sk-0123456789/+ or sk-0123456789%2F%2B"}}')
    assert.equal(echo.message, `bad key ${'*'.repeat(15)} or ${'*'.repeat(19)}`)
    assert.ok(of(`500 ${'x'.repeat(100_000)}`).message.length < 3_000)
  })
})
