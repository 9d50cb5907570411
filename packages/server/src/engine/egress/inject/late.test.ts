/** Upstreams that answer before they have the whole request. */
import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { openTestContext, placeholder, variableRow } from './forward-fixture.ts'

describe('a call whose answer begins before its request has ended', () => {
  it('ends the use of a credential whose placeholder comes behind the head of the answer', async () => {
    const read = Promise.withResolvers<string>()
    await using bench = await openTestContext(
      [variableRow({ header: false, body: true })],
      (request, response) => {
        response.writeHead(200)
        response.write('early')
        void text(request).then(read.resolve)
        request.once('end', () => response.end())
      },
    )
    const body = new PassThrough()
    const asked = bench.ask('https://api.example/', { method: 'POST', body })
    body.write('a beginning without any')
    const answer = await asked
    assert.equal(bench.used.length, 0)
    body.end(placeholder)
    assert.match(await read.promise, /canary-variable/)
    await text(answer.body)
    assert.deepEqual(
      bench.used.map(({ id, ended }) => [id, ended?.status]),
      [['vcrd_v', 200]],
    )
  })
})
