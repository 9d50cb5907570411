import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { describeStores } from './memory-prompt.ts'
import { fileRow, storeRow } from './fixture.ts'

describe('the description of memory stores for an agent', () => {
  // verifies: resources/memory-store/told
  it('is where each lies, what it may do there, and what its owner says of it', () => {
    const rules = storeRow(
      { resolved_path: '/mnt/memory/rules' },
      {
        ...{ name: 'Rules', access: 'read_only' },
        ...{ description: 'how we work', instructions: 'read them first' },
      },
    )
    const told = describeStores([storeRow(), rules, fileRow()], 'sandbox')
    assert.deepEqual(told.split('\n\n').slice(2), [
      '## /mnt/memory/notes\nName: Notes\nAccess: read_write',
      '## /mnt/memory/rules\nName: Rules\nAccess: read_only\nDescription: how we work\nInstructions: read them first',
    ])
    assert.match(told, /102,400 bytes/)
    assert.equal(told, describeStores([storeRow(), rules], 'sandbox'))
  })

  it('says nothing of writing where nothing can be written, nor anything without stores', () => {
    const isRead = storeRow({}, { access: 'read_only' })
    assert.doesNotMatch(describeStores([isRead], 'sandbox'), /102,400/)
    assert.match(describeStores([isRead], 'host'), /file tools/)
    assert.equal(describeStores([fileRow()], 'sandbox'), '')
  })
})
