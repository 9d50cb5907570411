import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { nearestName } from './nearest-name.ts'

describe('the nearest name', () => {
  const known = ['create-key', 'list-keys', 'list-workspaces']

  it('differs by a letter or two from what was typed', () => {
    assert.equal(nearestName('lst-workspaces', known), 'list-workspaces')
    assert.equal(nearestName('list-key', known), 'list-keys')
  })

  it('is none for a word that is like no name', () => {
    assert.equal(nearestName('frobnicate', known), undefined)
    assert.equal(nearestName('', known), undefined)
    assert.equal(nearestName('x', []), undefined)
  })
})
