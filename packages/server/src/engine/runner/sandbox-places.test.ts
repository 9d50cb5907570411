import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createShare } from '../../ground/core/share.ts'
import { sandboxPlaces } from './sandbox-places.ts'

const never = new AbortController().signal

/** Both places are in use and none rests when a third tenant asks. */
async function full() {
  const share = createShare({ total: 2, percent: 50 })
  const held = new Map<string, () => void>()
  const places = sandboxPlaces({
    share,
    resting: () => [],
    stop: (session) => held.get(session)?.(),
  })
  for (const tenant of ['a', 'b']) held.set(`of ${tenant}`, await places.take(tenant, never))
  return { share, places, held }
}

describe('the places of sandboxes', () => {
  it("go to another tenant that waits as soon as one's sandbox rests, without its idle time", async () => {
    const { share, places } = await full()
    const waiting = places.take('c', never)
    places.rests({ tenant: 'a', session: 'of a' })
    assert.deepEqual([share.held('a'), share.held('c')], [0, 1])
    await waiting
  })

  it('stay with a tenant that holds fewer than the one that waits', async () => {
    const share = createShare({ total: 4, percent: 50 })
    const stopped: string[] = []
    const stop = (session: string) => void stopped.push(session)
    const places = sandboxPlaces({ share, resting: () => [], stop })
    for (const tenant of ['a', 'a', 'b']) await places.take(tenant, never)
    const given = new AbortController()
    const waiting = places.take('a', given.signal)
    places.rests({ tenant: 'b', session: 'of b' })
    assert.deepEqual(stopped, [])
    given.abort(new Error('given up'))
    await assert.rejects(waiting, /given up/)
    places.rests({ tenant: 'a', session: 'of a' })
    assert.deepEqual(stopped, [], 'nobody waits')
  })
})
