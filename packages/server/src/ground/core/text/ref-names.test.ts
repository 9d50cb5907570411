import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isRefName } from './ref-names.ts'

describe('the name of a branch or tag', () => {
  it('leads out of no folder', () => {
    for (const name of ['main', 'a/b', 'ünïcode', 'a-b_c.d', 'feature/#1'])
      assert.ok(isRefName(`refs/heads/${name}`), name)
    const bad = ['', '/a', 'a/', 'a//b', '.a', 'a/.b', 'a..b', 'a.lock', 'a.lock/b', 'a.', 'a b']
    bad.push(
      'a\nb',
      'a:b',
      'a~b',
      'a^{}',
      'a?',
      'a*',
      'a[b',
      'a\\b',
      'a@{b',
      'a\x7f',
      '../../config',
      'a\ud800',
    )
    for (const name of bad) assert.ok(!isRefName(`refs/heads/${name}`), name)
    assert.ok(!isRefName('refs/pull/1/head'))
    assert.ok(!isRefName('HEAD'))
  })
})
