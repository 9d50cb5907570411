import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { RateLimitError } from '../../../ground/core/errors.ts'
import { passwordsInTurn } from './passwords.ts'

void describe('hashes of passwords', () => {
  void it('are made one after the other, and many at once are refused', async () => {
    let [running, most] = [0, 0]
    const work = async () => {
      most = Math.max(most, ++running)
      await new Promise((resolve) => setImmediate(resolve))
      running--
      return true
    }
    const { verify } = passwordsInTurn({ hash: async (text) => text, verify: work })
    const given = { hash: '', password: '' }
    const all = await Promise.allSettled(Array.from({ length: 25 }, () => verify(given)))
    assert.equal(most, 1)
    const refused = all.filter(({ status }) => status === 'rejected')
    assert.equal(refused.length, 5)
    for (const each of refused)
      assert.ok(each.status === 'rejected' && each.reason instanceof RateLimitError)
    assert.equal(await verify(given), true)
  })

  void it('go on after one that failed', async () => {
    const fail = () => Promise.reject(new Error('a broken hash'))
    const { hash, verify } = passwordsInTurn({ hash: async (text) => text, verify: fail })
    await assert.rejects(verify({ hash: '', password: '' }), /broken/)
    assert.equal(await hash('secret'), 'secret')
  })
})
