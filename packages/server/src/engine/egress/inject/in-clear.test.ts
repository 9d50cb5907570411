import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Headers } from '@steward/gate/outbound.ts'
import { echoed, opened, placeholder, variable } from './forward-fixture.ts'

describe('a call over plain http', () => {
  it('lets a placeholder go out as it is to other hosts, and over plain http', async () => {
    await using door = await opened([variable({ header: true, body: true })])
    const headers: Headers = [['X-Key', placeholder]]
    const { headers: got } = await echoed(door.ask('https://other.example/', { headers }))
    assert.equal(got['x-key'], placeholder)
    await assert.rejects(door.ask('http://api.example/', { headers }), 'it speaks TLS alone')
    assert.deepEqual(door.clear, ['sesn_1 api.example'])
    assert.deepEqual(door.used, [])
  })

  it('tells of a placeholder over plain http within Basic credentials, and in a switch of protocols', async () => {
    await using door = await opened([variable({ header: true, body: true })])
    const basic = Buffer.from(`x:${placeholder}`).toString('base64')
    const headers: Headers = [['Authorization', `Basic ${basic}`]]
    await assert.rejects(door.ask('http://one.example/', { headers }), 'it speaks TLS alone')
    await assert.rejects(door.upgrade(`http://two.example/?key=${placeholder}`))
    await assert.rejects(door.upgrade('http://three.example/'))
    assert.deepEqual(door.clear, ['sesn_1 one.example', 'sesn_1 two.example'])
  })
})
