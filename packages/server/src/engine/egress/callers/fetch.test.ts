import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { describe, it } from 'node:test'
import { fetchOver } from './fetch.ts'

describe('the body of an answer from outside', () => {
  it('may be given up while more of it comes', async () => {
    const body = new Readable({ read() {} })
    const fetch = fetchOver(() => Promise.resolve({ status: 200, headers: [], body }))
    const reader = (await fetch('https://up.example/')).body?.getReader()
    body.push('a')
    body.push('b')
    assert.equal((await reader?.read())?.value?.length, 1)
    const next = reader?.read()
    await reader?.cancel()
    assert.equal((await next)?.done, true)
    // What fails after the end of the test would end the process of a server.
    await new Promise((resolve) => setImmediate(resolve))
  })
})
