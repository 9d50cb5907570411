import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { paceAnswers } from './paced-answers.ts'

const url = 'https://up.example/mcp'

/** An answer in pieces, and the order of its reading. */
function answered(pieces: readonly (Uint8Array | Error)[], more = {}) {
  const seen: string[] = []
  async function* body() {
    for (const piece of pieces) {
      if (piece instanceof Error) throw piece
      yield piece
    }
  }
  const fetch = paceAnswers(
    'a',
    () => Promise.resolve(new Response(ReadableStream.from(body()), more)),
    { wait: (tenant) => Promise.resolve(void seen.push(tenant)) },
  )
  return { fetch, seen }
}

describe('an answer of a server that a tenant names', () => {
  it('is passed on whole, with its status and headers', async () => {
    const pieces = Array.from({ length: 5_000 }, (_, n) => Buffer.from(`piece ${n}\n`.repeat(5)))
    const { fetch } = answered(pieces, { status: 207, headers: { 'x-a': 'b' } })
    const response = await fetch(url)
    assert.deepEqual([response.status, response.headers.get('x-a')], [207, 'b'])
    assert.ok(Buffer.concat(pieces).equals(Buffer.from(await response.arrayBuffer())))
  })

  it('waits for its turn beyond 64 KiB, with its end too, and is joined out of small pieces', async () => {
    const short = answered([Buffer.alloc(64 * 1024)])
    await (await short.fetch(url)).arrayBuffer()
    assert.deepEqual(short.seen, [])
    const long = answered(Array.from({ length: 64 * 1024 }, () => Buffer.alloc(4)))
    const got: number[] = []
    for await (const piece of (await long.fetch(url)).body ?? []) got.push(piece.length)
    assert.ok(got.length < 20, `${got.length} pieces`)
    assert.ok(long.seen.length >= 3)
  })

  it('fails where its connection does, after what came before', async () => {
    const { fetch } = answered([Buffer.from('a'), Buffer.from('b'), new Error('reset')])
    const { body } = await fetch(url)
    let text = ''
    await assert.rejects(async () => {
      for await (const piece of body ?? []) text += Buffer.from(piece).toString()
    }, /reset/)
    assert.equal(text, 'ab')
  })
})
