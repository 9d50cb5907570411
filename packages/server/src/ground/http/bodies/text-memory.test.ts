import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { z } from 'zod'
import { PlatformError } from '../../core/errors.ts'
import { dialServer, serveRoutes } from '../fixture.ts'
import { contentBody } from '../limits.ts'
import { route } from '../route.ts'
import { textMemory } from './text-memory.ts'

const isRefused = (kind: string) => (error: unknown) =>
  error instanceof PlatformError && error.kind === kind

describe('bytes under way', () => {
  it('are bounded for a tenant and in all, and make room when they are released', () => {
    const bodies = textMemory('bodies', { all: 150, tenant: 100 })
    const first = bodies.open('a')
    first.hold(60)
    first.hold(80)
    const second = bodies.open('a')
    assert.throws(() => second.hold(21), isRefused('rate_limited'))
    second.hold(20)
    const other = bodies.open('b')
    assert.throws(() => other.hold(51), isRefused('unavailable'))
    other.hold(50)
    first.release()
    first.release()
    second.hold(100)
    assert.throws(() => first.hold(1), isRefused('rate_limited'))
    other.release()
    second.release()
    bodies.open('c').hold(100)
    bodies.open('b').hold(50)
  })

  it('are counted as long as a handler has them, though its caller has disconnected', async () => {
    const { promise: done, resolve: end } = Promise.withResolvers<void>()
    const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>()
    let begun = 0
    const slow = route(
      {
        ...{ ...about, method: 'post', path: '/v1/slow', callers: ['workspace'] },
        ...{ body: z.looseObject({}), limits: contentBody },
      },
      async () => {
        if (++begun === 3) arrive()
        await done
        return {}
      },
    )
    await using server = await serveRoutes([slow])
    const body = JSON.stringify({ text: 'x'.repeat(31 * 1024 * 1024) })
    const headers = { 'x-api-key': 'workspace' }
    const post = (signal?: AbortSignal) =>
      fetch(`${server.url}/v1/slow`, { method: 'POST', headers, body, ...(signal && { signal }) })
    const leaving = new AbortController()
    const leavers = [1, 2, 3].map(() => post(leaving.signal).catch(() => 'left'))
    await arrived
    leaving.abort()
    await Promise.all(leavers)
    while ((await server.connections()) > 0) await setTimeout(5)
    assert.equal((await post()).status, 429)
    end()
    while ((await post()).status !== 200) await setTimeout(5)
  })

  it('count nothing for callers who disconnect before their answer was made', async () => {
    const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>()
    const text = 'x'.repeat(40 * 1024 * 1024)
    let made = 0
    const heavy = route(
      { ...about, method: 'get', path: '/v1/heavy', callers: ['workspace'] },
      async ({ signal }) => {
        if (++made === 3) arrive()
        if (made <= 3) await once(signal, 'abort')
        return { text }
      },
    )
    await using server = await serveRoutes([heavy])
    const leavers = await Promise.all(
      [1, 2, 3].map(() =>
        dialServer(
          server.port,
          'GET /v1/heavy HTTP/1.1\r\nHost: a\r\nx-api-key: workspace\r\n\r\n',
        ),
      ),
    )
    await arrived
    for (const each of leavers) each.destroy()
    await Promise.all(leavers.map((each) => once(each, 'close')))
    for (const _ of [1, 2]) {
      const answer = await fetch(`${server.url}/v1/heavy`, {
        headers: { 'x-api-key': 'workspace' },
      })
      assert.equal(answer.status, 200)
      await answer.body?.cancel()
    }
  })
})

const about = { section: 'Tests', summary: 'For tests', answer: z.looseObject({}) } as const
