import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { bearer, cloudRequests } from './cloud-wire.ts'
import { failureOfStatus } from './wire.ts'

describe('a request to a cloud', () => {
  it('is away when the cloud does not say in time who the server is', async () => {
    const ask = cloudRequests<{ token: string; expiresMs: null }>({
      wire: () => assert.fail('nothing is sent'),
      identity: { current: () => new Promise(() => {}), forget: () => {} },
      sign: bearer,
      failureOf: failureOfStatus,
    })
    const url = new URL('https://cloud.example/')
    const answer = await ask({ method: 'GET', url, headers: {} }, AbortSignal.timeout(20))
    assert.equal(!answer.ok && answer.why, 'away')
  })

  it('means by a status what the status says', () => {
    const why = (status: number) => failureOfStatus(status, '').why
    assert.deepEqual([401, 403, 404].map(why), ['sign_in', 'denied', 'missing'])
    for (const status of [307, 408, 429, 500, 503]) assert.equal(why(status), 'away')
    assert.equal(why(400), 'malformed')
  })
})
