import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { News } from './messages.ts'
import { oneStream } from './one-stream.ts'

type Follow = { follow: { session_id: string; after_seq: number }[] }

/** A service whose stream the test speaks for. */
function service() {
  const changes: object[] = []
  let opened = 0
  let hear: ((data: unknown) => void) | undefined
  let lose = () => {}
  const ended: boolean[] = []
  let refusal: string | undefined
  const stream = oneStream({
    async follow({ onData, onLost, signal }) {
      opened++
      hear = onData
      lose = onLost
      signal.addEventListener('abort', () => ended.push(true))
    },
    async change(id, body) {
      changes.push({ id, ...body })
      return refusal
    },
  })
  return {
    stream,
    changes,
    ended,
    opened: () => opened,
    say: async (data: object) => {
      hear?.(data)
      await new Promise(setImmediate)
    },
    lose: () => lose(),
    refuse: (message: string) => (refusal = message),
    tab: () => {
      const news: News[] = []
      const port = stream.join((each) => news.push(each))
      const data = () => news.flatMap((each) => (each.kind === 'data' ? [each.data] : []))
      return { port, news, data, seqs: () => data().map(({ seq }) => seq) }
    },
  }
}

const event = (session_id: string, seq: number) => ({ type: 'agent.message', session_id, seq })
const settled = () => new Promise(setImmediate)

void describe('the one connection of a browser', () => {
  void it('is opened once for all tabs, and ends with the last of them', async () => {
    const { stream: _, opened, tab, ended, say } = service()
    const [one, other] = [tab(), tab()]
    one.port.ask({ kind: 'workspace', isWanted: true })
    other.port.ask({ kind: 'workspace', isWanted: true })
    await say({ type: 'stream.opened', id: 'strm_1' })
    await say({ type: 'stream.changed', id: 'sesn_1', object: {} })
    assert.equal(opened(), 1)
    assert.deepEqual([one.data().length, other.data().length], [1, 1])
    one.port.leave()
    assert.deepEqual(ended, [])
    other.port.leave()
    assert.deepEqual(ended, [true])
  })

  void it('follows a session for those who want it, and sends each event once to each', async () => {
    const { changes, tab, say } = service()
    const [one, other] = [tab(), tab()]
    one.port.ask({ kind: 'follow', session: 'a', after: 3 })
    await say({ type: 'stream.opened', id: 'strm_1' })
    await settled()
    assert.deepEqual(changes, [
      { id: 'strm_1', follow: [{ session_id: 'a', after_seq: 3, chunks: true }] },
    ])
    await say(event('a', 4))
    other.port.ask({ kind: 'follow', session: 'a', after: 2 })
    await settled()
    assert.equal((changes[1] as Follow).follow[0]?.after_seq, 2, 'the later tab has less')
    for (const seq of [3, 4, 5]) await say(event('a', seq))
    assert.deepEqual(one.seqs(), [4, 5])
    assert.deepEqual(other.seqs(), [3, 4, 5])
    one.port.ask({ kind: 'unfollow', session: 'a' })
    other.port.ask({ kind: 'unfollow', session: 'a' })
    await settled()
    assert.deepEqual(changes.at(-1), { id: 'strm_1', unfollow: ['a'] })
  })

  void it('goes on after a loss behind what each tab has', async () => {
    const { changes, tab, say, lose } = service()
    const one = tab()
    one.port.ask({ kind: 'follow', session: 'a', after: 0 })
    await say({ type: 'stream.opened', id: 'strm_1' })
    await say(event('a', 7))
    lose()
    assert.deepEqual(one.news.at(-1), { kind: 'lost' })
    await say({ type: 'stream.opened', id: 'strm_2' })
    await settled()
    assert.deepEqual(changes.at(-1), {
      id: 'strm_2',
      follow: [{ session_id: 'a', after_seq: 7, chunks: true }],
    })
  })

  void it('says to those who follow it why a session is refused', async () => {
    const { tab, say, refuse } = service()
    const [one, other] = [tab(), tab()]
    refuse('session a not found')
    one.port.ask({ kind: 'follow', session: 'a', after: 0 })
    other.port.ask({ kind: 'workspace', isWanted: true })
    await say({ type: 'stream.opened', id: 'strm_1' })
    await settled()
    const refused = { kind: 'refused', session: 'a', message: 'session a not found' }
    assert.deepEqual(one.news.at(-1), refused)
    assert.ok(!other.news.some(({ kind }) => kind === 'refused'))
  })
})
