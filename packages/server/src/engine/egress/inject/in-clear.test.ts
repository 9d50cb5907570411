import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { HeaderPairs } from '@steward/gate/outbound.ts'
import { readEcho, openTestContext, placeholder, variableRow } from './forward-fixture.ts'

describe('a call over plain http', () => {
  it('sends a placeholder unchanged to other hosts, and over plain http', async () => {
    await using bench = await openTestContext([variableRow({ header: true, body: true })])
    const headers: HeaderPairs = [['X-Key', placeholder]]
    const { headers: got } = await readEcho(bench.ask('https://other.example/', { headers }))
    assert.equal(got['x-key'], placeholder)
    await assert.rejects(bench.ask('http://api.example/', { headers }), 'it speaks TLS alone')
    assert.deepEqual(bench.clear, ['sesn_1 api.example'])
    assert.deepEqual(bench.used, [])
  })

  it('reports a placeholder over plain http within Basic credentials, and in an upgrade', async () => {
    await using bench = await openTestContext([variableRow({ header: true, body: true })])
    const basic = Buffer.from(`x:${placeholder}`).toString('base64')
    const headers: HeaderPairs = [['Authorization', `Basic ${basic}`]]
    await assert.rejects(bench.ask('http://one.example/', { headers }), 'it speaks TLS alone')
    await assert.rejects(bench.upgrade(`http://two.example/?key=${placeholder}`))
    await assert.rejects(bench.upgrade('http://three.example/'))
    assert.deepEqual(bench.clear, ['sesn_1 one.example', 'sesn_1 two.example'])
  })
})
