import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { ToSupervisor } from './protocol.ts'
import type { HarnessPatience } from './supervise.ts'
import { superviseHarness } from './supervise.ts'

const fixture = fileURLToPath(new URL('./harness-fixture.ts', import.meta.url))
const start = {
  ...{ environment_id: 'env_1', session_id: 'sesn_1', work_id: 'work_1' },
  ...{ workdir: '/nowhere', outputs: '/nowhere', idle_ms: 1000, settings: {} },
}

function begin(mode: string, patience: HarnessPatience = { readyMs: 20_000, abortMs: 20_000 }) {
  const heard: ToSupervisor[] = []
  let isReady = () => {}
  const ready = new Promise<void>((resolve) => (isReady = resolve))
  const supervised = superviseHarness({
    command: [process.execPath, fixture, mode],
    ...{ env: { ONE: '1' }, start, patience },
    heard(message) {
      heard.push(message)
      if (message.type === 'ready') isReady()
    },
    said: () => {},
  })
  return { ...supervised, heard, ready }
}

describe('the supervisor of a harness', () => {
  it('gives it its variables and no others, and hears its events; what it does not know it passes over', async () => {
    const { ended, heard } = begin('variables')
    assert.deepEqual(await ended, {
      ...{ how: 'done', wasReady: true, why: 'exit 0' },
      ...{ isTold: false, isLeaseLost: false },
    })
    assert.deepEqual(
      heard.map(({ type }) => type),
      ['ready', 'event', 'done'],
    )
    const event = heard.find(({ type }) => type === 'event')
    assert.deepEqual(event?.type === 'event' && event.data, { ONE: '1' })
  })

  it('stops it, and it ends by itself', async () => {
    const harness = begin('good')
    await harness.ready
    harness.stop('shutdown', 20_000)
    assert.equal((await harness.ended).how, 'done')
  })

  it('aborts it, and it ends by itself', async () => {
    const harness = begin('good')
    await harness.ready
    harness.abort('lease_lost')
    const ending = await harness.ended
    assert.deepEqual(ending, {
      ...{ how: 'aborted', wasReady: true, why: 'aborted: lease_lost' },
      ...{ isTold: false, isLeaseLost: true },
    })
  })

  it('does nothing more for a harness that has ended because it heard of no lease', async () => {
    const { how, why, isLeaseLost } = await begin('unheard').ended
    assert.deepEqual([how, why, isLeaseLost], ['aborted', 'aborted: lease_lost', true])
  })

  it('kills a harness that does not heed an abort', async () => {
    const harness = begin('deaf', { readyMs: 20_000, abortMs: 50 })
    await harness.ready
    harness.abort('lease_lost')
    assert.equal((await harness.ended).how, 'aborted')
  })

  it('aborts a harness that takes longer to stop than it may', async () => {
    const harness = begin('deaf', { readyMs: 20_000, abortMs: 50 })
    await harness.ready
    harness.stop('stopping', 50)
    const { how, why } = await harness.ended
    assert.deepEqual([how, why], ['aborted', 'aborted: overdue'])
  })

  const wrong: [string, string, boolean, RegExp][] = [
    ['silent', 'aborted', false, /not ready within 300 ms/],
    ['otherVersion', 'aborted', false, /speaks openma-harness-supervisor-v9/],
    ['garbage', 'aborted', true, /no JSON/],
    ['endless', 'aborted', true, /a line of more than/],
    ['early', 'aborted', false, /done before it was ready/],
    ['refuses', 'refused', false, /no such setting/],
    ['fails', 'failed', true, /the disk is full/],
    ['crashes', 'failed', true, /killed/],
  ]
  for (const [mode, how, wasReady, why] of wrong)
    it(`reports how a harness ends that is ${mode}`, async () => {
      const readyMs = mode === 'silent' ? 300 : 20_000
      const ending = await begin(mode, { readyMs, abortMs: 2_000 }).ended
      assert.deepEqual([ending.how, ending.wasReady], [how, wasReady])
      assert.match(ending.why, why)
    })

  it('says so when the program is missing', async () => {
    const command: [string] = ['/nowhere/harness']
    const options = { command, env: {}, start, heard: () => {}, said: () => {} }
    const { how, wasReady, why } = await superviseHarness(options).ended
    assert.deepEqual([how, wasReady], ['failed', false])
    assert.match(why, /did not start/)
  })
})
