import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createShare } from '../../../ground/core/fairness/share.ts'
import { sandboxSlots } from './sandbox-slots.ts'

const never = new AbortController().signal

/** Both slots are in use and none rests when a third tenant asks. */
async function full() {
  const share = createShare({ total: 2, percent: 50 })
  const held = new Map<string, () => void>()
  const slots = sandboxSlots({
    share,
    resting: () => [],
    stop: (session) => held.get(session)?.(),
  })
  for (const tenant of ['a', 'b']) held.set(`of ${tenant}`, await slots.take(tenant, never))
  return { share, hosts: slots, held }
}

describe('the slots of sandboxes', () => {
  it("go to another tenant that waits as soon as one's sandbox rests, without its idle time", async () => {
    const { share, hosts: slots } = await full()
    const waiting = slots.take('c', never)
    slots.rests({ tenant: 'a', session: 'of a' })
    assert.deepEqual([share.held('a'), share.held('c')], [0, 1])
    await waiting
  })

  it('stay with a tenant that holds fewer than the one that waits', async () => {
    const share = createShare({ total: 4, percent: 50 })
    const stopped: string[] = []
    const stop = (session: string) => void stopped.push(session)
    const slots = sandboxSlots({ share, resting: () => [], stop })
    for (const tenant of ['a', 'a', 'b']) await slots.take(tenant, never)
    const given = new AbortController()
    const waiting = slots.take('a', given.signal)
    slots.rests({ tenant: 'b', session: 'of b' })
    assert.deepEqual(stopped, [])
    given.abort(new Error('given up'))
    await assert.rejects(waiting, /given up/)
    slots.rests({ tenant: 'a', session: 'of a' })
    assert.deepEqual(stopped, [], 'nobody waits')
  })
})
