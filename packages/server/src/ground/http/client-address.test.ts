import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { forbidden, RateLimitError, unauthorized } from '../core/errors.ts'
import { parseRanges } from '../core/security/dial.ts'
import { clientAddress, countFailures } from './client-address.ts'

const proxies = parseRanges('10.0.0.0/8, 2001:db8:1::/48')
const from = (peer: string | undefined, named?: string) =>
  clientAddress(
    {
      socket: { remoteAddress: peer },
      headers: named === undefined ? {} : { 'x-forwarded-for': named },
    },
    { proxies },
  )

void describe('the address of a client', () => {
  void it('is the one that connects, whatever it names, unless that is a trusted proxy', () => {
    assert.equal(from('192.0.2.1', '198.51.100.7'), '192.0.2.1')
    assert.equal(from('10.1.2.3'), '10.1.2.3')
    assert.equal(from(undefined, '198.51.100.7'), '')
    const untrusted = {
      socket: { remoteAddress: '10.1.2.3' },
      headers: { 'x-forwarded-for': '1.1.1.1' },
    }
    assert.equal(clientAddress(untrusted, {}), '10.1.2.3')
  })

  void it('is the rightmost that no trusted proxy has', () => {
    assert.equal(from('10.1.2.3', '198.51.100.7'), '198.51.100.7')
    assert.equal(from('10.1.2.3', '1.1.1.1, 198.51.100.7, 10.9.9.9'), '198.51.100.7')
    assert.equal(from('::ffff:10.1.2.3', '6.6.6.6,::ffff:198.51.100.7'), '198.51.100.7')
    assert.equal(from('2001:db8:1::5', '[2001:db8:2::7]:443, 10.0.0.1:80'), '2001:db8:2::7')
    assert.equal(from('10.1.2.3', '10.0.0.1, 10.0.0.2'), '10.0.0.1')
  })

  void it('is the last that was named well, where the header says something else', () => {
    for (const wrong of [
      '',
      ' ',
      'unknown',
      '198.51.100.7, ',
      '1.1.1.1, x',
      '999.1.1.1',
      '1.1.1.1;',
      '[::1',
      '1.1.1.1:999999',
      '10.1',
    ])
      assert.equal(from('10.1.2.3', wrong), '10.1.2.3', wrong)
    assert.equal(from('10.1.2.3', 'garbage, 10.0.0.9'), '10.0.0.9')
    assert.equal(from('10.1.2.3', `${'1.1.1.1,'.repeat(2_000)}198.51.100.7`), '198.51.100.7')
  })
})

void describe('failed authentications', () => {
  const counted: string[] = []
  const attempt = (
    calling: Promise<string>,
    headers: Record<string, string> = { 'x-api-key': 'k' },
  ) =>
    countFailures(calling, {
      header: (name) => headers[name],
      address: '192.0.2.1',
      async countFailure(address) {
        counted.push(address)
        if (counted.length > 1) throw new RateLimitError('too many', 5)
      },
    })

  void it('are counted, and refused beyond the limit; a good key, another refusal and a missing key are not', async () => {
    assert.equal(await attempt(Promise.resolve('caller')), 'caller')
    await assert.rejects(attempt(Promise.reject(forbidden('no')), {}), /no/)
    await assert.rejects(attempt(Promise.reject(forbidden('no'))), /no/)
    await assert.rejects(attempt(Promise.reject(unauthorized('a key is required')), {}), /required/)
    assert.deepEqual(counted, [])
    await assert.rejects(attempt(Promise.reject(unauthorized('unknown'))), /unknown/)
    await assert.rejects(attempt(Promise.reject(unauthorized('unknown'))), RateLimitError)
    assert.equal(await attempt(Promise.resolve('caller')), 'caller')
  })
})
