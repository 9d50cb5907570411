import assert from 'node:assert/strict'
import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { describe, it } from 'node:test'
import { unitOn } from '../../ground/bus/fixture.ts'
import { memoryBus } from '../../ground/bus/memory.ts'
import { PlatformError } from '../../ground/core/errors.ts'
import type { Clock } from '@steward/base/time.ts'
import { everyShape } from '../../ground/database/shapes-fixture.ts'
import { tenant } from '../log/fixture.ts'
import type { ClaimPrincipal } from '../../ground/http/principal.ts'
import { testGround } from '../../ground/ground-fixture.ts'
import { newSession } from '../fixture.ts'
import { claimEnds, underClaims } from './ending.ts'
import { noAttempts } from './item.ts'
import { beatItem, claimNext, enqueueItem } from './queue.ts'
import { notifyLostClaims } from './topics.ts'

const environment = 'env_test'

for (const [kind, open] of Object.entries(everyShape)) {
  async function setup() {
    const opened = await open()
    const { database } = opened
    let now = 1_000_000
    const waiting = new Set<() => void>()
    const clock: Clock = {
      now: () => now,
      sleep: (_ms, signal) =>
        new Promise((resolve) => {
          waiting.add(resolve)
          signal.addEventListener('abort', () => resolve(), { once: true })
        }),
    }
    const bus = memoryBus()
    const session = await newSession(database)
    await database.write((tx) => enqueueItem(tx, { tenant, environment, session }, { now }))
    const take = () => claimNext(database, tenant, environment, { now, reclaimMs: 1 })
    const item = await take()
    assert.ok(item)
    const claim: ClaimPrincipal = {
      ...{ kind: 'claim', tenant, environmentId: environment, sessionId: session },
      ...{ workId: item.id, generation: item.generation, claimState: 'current' },
    }
    const deps = testGround(database, { bus, clock })
    return {
      ...{ deps, claim, take, waiting },
      beat: () =>
        beatItem(
          database,
          { tenant, environment, id: item.id },
          { by: { generation: item.generation }, expected: noAttempts },
          { now, idleMs: 10 ** 9 },
        ),
      /** Moves the clock: sleepers whose time has come look and sleep again. */
      async pass(ms: number) {
        now += ms
        const all = [...waiting]
        waiting.clear()
        for (const wake of all) wake()
        for (let n = 0; waiting.size === 0 && n < 100; n++)
          await new Promise((resolve) => setTimeout(resolve, 5))
      },
      [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
    }
  }
  const never = () => new AbortController().signal

  describe(`a request under a claim on ${kind}`, () => {
    it('ends when the lease runs out, without a notification', async () => {
      await using here = await setup()
      await here.beat()
      const ended = claimEnds(here.deps)(here.claim, never())
      await here.pass(60_000)
      assert.equal(ended.aborted, false)
      void here.pass(60_000)
      if (!ended.aborted) await once(ended, 'abort')
    })

    it('ends when another has claimed it, though word of that was lost', async () => {
      await using here = await setup()
      const ended = claimEnds(here.deps)(here.claim, never())
      await here.pass(10)
      assert.equal(ended.aborted, false)
      assert.ok(await here.take())
      void here.pass(10)
      if (!ended.aborted) await once(ended, 'abort')
    })

    it('ends at once when the loss is notified', async () => {
      await using here = await setup()
      const ended = claimEnds(here.deps)(here.claim, never())
      notifyLostClaims(unitOn(here.deps.bus), {
        work: here.claim.workId,
        below: here.claim.generation + 1,
      })
      assert.equal(ended.aborted, true)
    })

    it('gives up a question and its answer with the claim, and looks no longer than they last', async () => {
      await using here = await setup()
      const under = underClaims(here.deps)
      const text = async () => ''
      const json = async () => ({})
      const form = async () => new URLSearchParams()
      const raw = { method: 'GET', headers: [], body: null, text, json, form, signal: never() }
      const tell = (below: number) =>
        notifyLostClaims(unitOn(here.deps.bus), { work: here.claim.workId, below })
      const asked = under(here.claim, raw, async ({ signal }) => {
        await once(signal, 'abort')
        throw new Error('given up')
      })
      tell(here.claim.generation + 1)
      await assert.rejects(
        asked,
        (error) => error instanceof PlatformError && error.kind === 'unauthorized',
      )
      const body = new PassThrough()
      let heard: AbortSignal | undefined
      await under(here.claim, raw, async ({ signal }) => {
        heard = signal
        return { body }
      })
      assert.equal(heard?.aborted, false)
      body.destroy()
      await once(body, 'close')
      assert.equal(heard?.aborted, true)
    })
  })
}
