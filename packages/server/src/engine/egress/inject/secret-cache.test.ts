import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { movedClock } from '@steward/base/time-fixture.ts'
import { createSeal } from '../../../ground/core/security/seal.ts'
import { secretCache } from './secret-cache.ts'

const sealed = createSeal('root secret of the test')
const token = sealed.seal('token of the test', 'place')
const second = 1_000

function counted() {
  const clock = movedClock()
  let opened = 0
  const secrets = secretCache(
    {
      ...sealed,
      open(...given) {
        opened++
        return sealed.open(...given)
      },
    },
    clock,
  )
  const pass = async (seconds: number) => {
    for (let n = 0; n < seconds; n++) await clock.pass(second)
  }
  return {
    clock,
    secrets,
    pass,
    open: () => secrets.seal.open(token, 'place'),
    times: () => opened,
  }
}

/** Time for which an opened secret serves calls. */
async function secondsOfUse(): Promise<number> {
  const { secrets, pass, open, times } = counted()
  let seconds = 0
  for (open(); times() === 1; open()) {
    await pass(1)
    seconds++
  }
  secrets.close()
  return seconds
}

describe('a secret that was opened', () => {
  it('is let go within a minute, with a mask that was made of it at the last moment', async () => {
    const use = await secondsOfUse()
    assert.ok(use > 1)
    const { clock, secrets, pass, open, times } = counted()
    // The cleaning of the masks' memo starts at these times, the worst ones for the test.
    secrets.maskOf(['a secret before'])
    await pass(1)
    secrets.maskOf(['another secret before'])
    await pass(1)
    open()
    await pass(use - 1)
    secrets.maskOf([open()])
    assert.equal(times(), 1)
    await pass(60 - (use - 1))
    // The memo keeps its timer while it holds anything.
    assert.equal(clock.sleeping(), 0)
  })
})
