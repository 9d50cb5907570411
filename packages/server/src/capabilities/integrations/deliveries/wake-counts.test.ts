import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { WakeCounts } from '../../../ground/database/tables/integrations.ts'
import type { HeardDelivery } from './allowed.ts'
import { hasWoken, howUsedUp, mostWakes, toldOf, wakesAfter } from './wake-counts.ts'

const commit = (head: string, pull_request = 'acme/shop#9') =>
  ({ kind: 'new_commits', pull_request, head }) as const
const message = {
  kind: 'message',
  scope: 's',
  author: 'ada',
  text: '',
  context: {},
  target: {},
} as const
const woken = (...heads: string[]): WakeCounts | null =>
  heads.reduce<WakeCounts | null>(
    (kept, head) => wakesAfter(kept, { ...message, wake: commit(head) }),
    null,
  )

describe('what has woken an agent', () => {
  it('is counted for each pull request, and known by its commit and its kind', () => {
    const kept = woken('1', '2', '3', '4')
    assert.ok(hasWoken(kept, commit('2')))
    assert.ok(!hasWoken(kept, { ...commit('2'), kind: 'failed_checks' }))
    assert.ok(!hasWoken(kept, commit('2', 'acme/shop#8')))
    assert.ok(!howUsedUp(kept, commit('5')))
    const last = wakesAfter(kept, { ...message, wake: commit('5') })
    assert.equal(howUsedUp(last, commit('6')), '5 times by this pull request')
    assert.ok(!howUsedUp(last, commit('6', 'acme/shop#8')))
  })

  it('counts anew when a person writes, presses a button or reviews', () => {
    const kept = woken(...Array.from({ length: mostWakes }, (_, at) => String(at)))
    const told = toldOf(kept, commit('9')) ?? null
    assert.equal(toldOf(told, commit('9')), undefined, 'people are told once')
    const decision = { kind: 'decision', scope: 's', author: 'ada' } as const
    const words: HeardDelivery[] = [
      message,
      { ...decision, call: 'c', message: 'm', result: 'allow' },
      { ...message, wake: { ...commit('9'), kind: 'changes_requested' } },
    ]
    for (const word of words) {
      const after = wakesAfter(told, word)
      assert.ok(!howUsedUp(after, commit('9')))
      assert.ok(hasWoken(after, commit('0')), 'a commit wakes once for all that')
      assert.ok(toldOf(after, commit('9')))
    }
  })

  it('is bounded over all pull requests of the thread too', () => {
    const kept = Array.from({ length: 20 }).reduce<WakeCounts | null>((before, _, at) => {
      const wake = commit(String(at), `acme/shop#${at}`)
      assert.ok(!howUsedUp(before, wake))
      return wakesAfter(before, { ...message, wake })
    }, null)
    assert.equal(howUsedUp(kept, commit('20', 'acme/shop#20')), '20 times by its pull requests')
    assert.ok(!howUsedUp(wakesAfter(kept, message), commit('20', 'acme/shop#20')))
  })

  it('is forgotten by the oldest', () => {
    const kept = woken(...Array.from({ length: 60 }, (_, at) => String(at)))
    assert.equal(kept?.seen.length, 50)
    assert.ok(!hasWoken(kept, commit('0')) && hasWoken(kept, commit('59')))
  })
})
