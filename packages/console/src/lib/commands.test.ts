import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { commandFor } from './command-keys.ts'

void describe('the command of a key', () => {
  const all = [{ keys: 'g s' }, { keys: 'j' }, { keys: 's' }, { keys: undefined }]

  void it('may need two keys, and the second alone can mean something else', () => {
    assert.deepEqual(commandFor(all, 'g', undefined), { command: undefined, isBegun: true })
    assert.equal(commandFor(all, 's', 'g').command?.keys, 'g s')
    assert.equal(commandFor(all, 's', undefined).command?.keys, 's')
    assert.equal(commandFor(all, 'j', 'g').command?.keys, 'j')
    assert.equal(commandFor(all, 'x', undefined).command, undefined)
  })

  void it('is that of the part of the page that came last', () => {
    const two = [
      { keys: 'j', id: 'page' },
      { keys: 'j', id: 'list' },
    ]
    assert.deepEqual(commandFor(two, 'j', undefined).command, { keys: 'j', id: 'list' })
  })
})
