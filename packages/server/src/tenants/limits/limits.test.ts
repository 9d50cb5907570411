import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { jsonLog } from '@steward/base/log.ts'
import { databases } from '../../ground/database/fixture.ts'
import { testGround } from '../../ground/ground-fixture.ts'
import { mostBuckets } from './buckets.ts'
import { limitsFor } from './limits.ts'

const hour = 3_600_000

async function newLimits() {
  const made = await databases.sqlite()
  const rate = { limit: 1, periodMs: hour }
  const deps = testGround(made.database)
  const limits = limitsFor({ writes: rate, sign_in: rate }, { ...deps, log: jsonLog(() => {}) })
  return { limits, [Symbol.asyncDispose]: () => made[Symbol.asyncDispose]() }
}

void describe('limits', () => {
  void it('of a workspace are kept, however many addresses sign in', async () => {
    await using made = await newLimits()
    const { limits } = made
    const isAdmitted = async () => (await limits.requests?.count('acme', 'writes'))?.isAdmitted
    assert.equal(await isAdmitted(), true)
    assert.equal(await isAdmitted(), false)
    for (let n = 0; n <= mostBuckets; n++)
      await limits.admit('sign_in', `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`)
    assert.equal(await isAdmitted(), false)
  })

  void it('of an address hold for its network, which is one subscriber of IPv6', async () => {
    await using made = await newLimits()
    const { limits } = made
    await limits.admit('sign_in', '2001:db8:1:2::1')
    await assert.rejects(limits.admit('sign_in', '2001:db8:1:2:ffff::2'), /limit of this address/)
    await assert.rejects(
      limits.admit('sign_in', '2001:0db8:0001:0002:0:0:0:3'),
      /limit of this address/,
    )
    await limits.admit('sign_in', '2001:db8:1:3::1')
    await limits.admit('sign_in', '2001:db8::1')
    await limits.admit('sign_in', '2001::1:2:3:4:5:6')
    await limits.admit('sign_in', '::ffff:192.0.2.1')
    await assert.rejects(limits.admit('sign_in', '192.0.2.1'), /limit of this address/)
    await limits.admit('sign_in', '::ffff:192.0.2.2')
    await limits.admit('sign_in', 'ada@example.com')
  })
})
