import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { minuteMs } from '@steward/base/settings/kinds.ts'
import { RateLimitError } from '../../../ground/core/errors.ts'
import { fadingCounts } from './fading-counts.ts'
import { passwordsInTurn } from './passwords.ts'

const given = { hash: '', password: '' }

/** Passwords whose hashes end when the test says so. */
function heldPasswords() {
  const clock = { nowMs: 0, now: () => clock.nowMs }
  const ends: (() => void)[] = []
  const work = () => new Promise<boolean>((resolve) => ends.push(() => resolve(true)))
  const passwords = passwordsInTurn(clock, { hash: async (text) => text, verify: work })
  const order: string[] = []
  const attempt = (address: string, account: string) =>
    passwords
      .as({ address, account }, () => passwords.verify(given))
      .then(
        () => order.push(account),
        (error: unknown) => {
          assert.ok(error instanceof RateLimitError)
          order.push(`${account} refused`)
        },
      )
  async function endAll(): Promise<void> {
    for (let quiet = 0; quiet < 3; quiet++) {
      await new Promise((resolve) => setImmediate(resolve))
      const end = ends.shift()
      if (end) quiet = 0
      end?.()
    }
  }
  return { clock, passwords, order, attempt, endAll }
}

void describe('hashes of passwords', () => {
  void it('are made one after the other, and many at once are refused', async () => {
    let [running, most] = [0, 0]
    const work = async () => {
      most = Math.max(most, ++running)
      await new Promise((resolve) => setImmediate(resolve))
      running--
      return true
    }
    const { verify, as } = passwordsInTurn(
      { now: () => 0 },
      { hash: async (text) => text, verify: work },
    )
    const ask = (n: number) =>
      as({ address: `192.0.2.${n}`, account: `${n}@example.com` }, () => verify(given))
    const all = await Promise.allSettled(Array.from({ length: 25 }, (_, n) => ask(n)))
    assert.equal(most, 1)
    const refused = all.filter(({ status }) => status === 'rejected')
    assert.equal(refused.length, 4, 'one runs and 20 wait')
    for (const each of refused)
      assert.ok(each.status === 'rejected' && each.reason instanceof RateLimitError)
    assert.equal(await ask(1), true)
  })

  void it('go on after one that failed', async () => {
    const fail = () => Promise.reject(new Error('a broken hash'))
    const { hash, verify, as } = passwordsInTurn(
      { now: () => 0 },
      { hash: async (text) => text, verify: fail },
    )
    const ada = { address: '192.0.2.1', account: 'ada@example.com' }
    await assert.rejects(
      as(ada, () => verify(given)),
      /broken/,
    )
    assert.equal(await as(ada, () => hash('secret')), 'secret')
  })

  void it('of a person come before those of addresses that have failed, which are put out', async () => {
    const { passwords, order, attempt, endAll } = heldPasswords()
    const attackers = Array.from({ length: 21 }, (_, n) => `2001:db8:0:${n.toString(16)}::1`)
    for (const address of attackers) passwords.noteFailure({ address })
    const strangers = Array.from({ length: 21 }, (_, n) => `198.51.100.${n}`)
    for (const address of strangers) passwords.noteFailure({ address })
    const all = strangers.map((address, n) => attempt(address, `guess ${n}`))
    all.push(attempt('192.0.2.1', 'owner'))
    await endAll()
    await Promise.all(all)
    assert.equal(order.filter((each) => each.endsWith('refused')).length, 1, order.join())
    assert.ok(order.filter((each) => !each.endsWith('refused')).indexOf('owner') <= 1, order.join())
  })

  void it('wait one for each account and each network, and four for a wide network', async () => {
    const { passwords, order, attempt, endAll } = heldPasswords()
    const running = attempt('192.0.2.9', 'running')
    passwords.noteFailure({ address: '192.0.2.1' })
    const all = [
      attempt('192.0.2.1', 'ada'),
      attempt('192.0.2.1', 'another of the network'),
      attempt('192.0.2.2', 'ada'),
    ]
    for (let n = 0; n < 6; n++) all.push(attempt(`2001:db8:0:${n}::1`, `wide ${n}`))
    await endAll()
    await Promise.all([running, ...all])
    const refused = order.filter((each) => each.endsWith('refused'))
    assert.deepEqual(
      refused.toSorted(),
      ['ada refused', 'another of the network refused', 'wide 4 refused', 'wide 5 refused'],
      'whoever has not failed takes the place of one who has, for the same account',
    )
    assert.equal(order.filter((each) => each === 'ada').length, 1)
  })
})

void describe('counts that fade', () => {
  void it('forget one a minute, and the oldest key where there are too many', () => {
    const clock = { nowMs: 0, now: () => clock.nowMs }
    const counts = fadingCounts(clock, 2)
    counts.add('a')
    counts.add('a')
    clock.nowMs = minuteMs
    assert.equal(counts.get('a'), 1)
    counts.add('b')
    counts.add('c')
    assert.deepEqual(['a', 'b', 'c'].map(counts.get), [0, 1, 1])
  })
})
