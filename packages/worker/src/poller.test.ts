import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { it } from 'node:test'
import { jsonLog } from '@steward/base/log.ts'
import { noHints } from './hints/hints.ts'
import { pollOn } from './poller.ts'
import { serviceAt } from './service.ts'

it('a worker whose slots are all taken keeps no listener for each item', async () => {
  const stop = new AbortController()
  const listeners: number[] = []
  const secret = Buffer.from(JSON.stringify({ sessions_token: 'a' })).toString('base64url')
  const service = {
    ...serviceAt({
      baseUrl: 'http://127.0.0.1:1',
      environmentId: 'env_1',
      environmentKey: 'the key',
      workerId: 'test',
    }),
    poll: async () => ({ work: 'work_1', session: 'sesn_1', secret }),
  }
  await pollOn(
    {
      ...{ service, hints: noHints, most: 1, pauseMs: 0, reclaimMs: 0, acknowledges: false },
      ...{ reached() {}, log: jsonLog(() => {}) },
      async run() {
        await new Promise((resolve) => setImmediate(resolve))
        listeners.push(getEventListeners(stop.signal, 'abort').length)
        if (listeners.length === 20) stop.abort()
      },
    },
    stop.signal,
  )
  assert.deepEqual(new Set(listeners), new Set([1]))
})
