import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createShare } from '../core/fairness/share.ts'
import { serveRoutes } from './fixture.ts'
import { streamReply } from './reply.ts'
import { route } from './route.ts'
import { createStreams } from './streams.ts'

const silent = route(
  {
    ...{ method: 'post', path: '/s', section: 'Tests', summary: 'For tests' },
    callers: ['workspace', 'anyone'],
    answer: 'stream',
  },
  async () => streamReply(lasting),
)
let done = 0
const counting = { ...silent, path: '/done', run: async () => (done++, streamReply(lasting)) }

async function* lasting(signal: AbortSignal) {
  yield 'first\n'
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

const opened = (total: number) => createStreams(createShare({ total, percent: 50 }))

describe('the streams of a server', () => {
  it('are refused beyond the share of a tenant, before anything is done, and taken again when one has ended', async () => {
    await using server = await serveRoutes([silent, counting], { streams: opened(4) })
    const leaving = [1, 2].map(() => new AbortController())
    const open = (path: string, signal?: AbortSignal) =>
      fetch(server.url + path, { method: 'POST', ...(signal && { signal }) })
    for (const { signal } of leaving) assert.equal((await open('/s', signal)).status, 200)
    const refused = await open('/done')
    assert.deepEqual([refused.status, refused.headers.get('retry-after'), done], [429, '1', 0])
    assert.match(await refused.text(), /as many streams open as there is room for/)
    leaving[0]?.abort()
    const ending = new AbortController()
    for (;;) {
      const answer = await open('/done', ending.signal)
      if (answer.status === 200) break
      await answer.text()
    }
    assert.equal(done, 1)
    for (const each of [ending, ...leaving]) each.abort()
  })

  it('end as whole answers when the server stops, and there are no others then', async () => {
    const streams = opened(10)
    await using server = await serveRoutes([silent], { streams })
    const answer = await fetch(`${server.url}/s`, { method: 'POST' })
    streams.close()
    assert.match(await answer.text(), /first\n$/)
    const late = await fetch(`${server.url}/s`, { method: 'POST' })
    assert.equal(late.status, 503)
    assert.match(await late.text(), /being stopped/)
    assert.deepEqual(server.logged, [])
  })
})
