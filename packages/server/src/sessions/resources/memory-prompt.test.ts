import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { toldOfStores } from './memory-prompt.ts'
import type { ResourceRow } from '../rows/resources.ts'

const row = (more: Partial<ResourceRow>): ResourceRow => ({
  ...{ tenant_id: 'wrkspc_1', session_id: 'sesn_1', id: 'sesrsc_1', type: 'memory_store' },
  ...{ file_id: null, url: null, checkout: null, sealed_token: null, cloned_at: null },
  ...{ memory_store_id: 'memstore_1', access: 'read_write', name: 'Notes', description: '' },
  ...{ mount_path: '/mnt/memory/notes', resolved_path: '/mnt/memory/notes' },
  ...{ instructions: null, created_at: '', updated_at: '' },
  ...more,
})

describe('what an agent is told of its memory stores', () => {
  // verifies: resources/memory-store/told
  it('is where each lies, what it may do there, and what its owner says of it', () => {
    const rules = row({
      ...{ resolved_path: '/mnt/memory/rules', name: 'Rules', access: 'read_only' },
      ...{ description: 'how we work', instructions: 'read them first' },
    })
    const told = toldOfStores([row({}), rules, row({ type: 'file' })], 'sandbox')
    assert.deepEqual(told.split('\n\n').slice(2), [
      '## /mnt/memory/notes\nName: Notes\nAccess: read_write',
      '## /mnt/memory/rules\nName: Rules\nAccess: read_only\nDescription: how we work\nInstructions: read them first',
    ])
    assert.match(told, /102,400 bytes/)
    assert.equal(told, toldOfStores([row({}), rules], 'sandbox'))
  })

  it('says nothing of writing where nothing can be written, nor anything without stores', () => {
    assert.doesNotMatch(toldOfStores([row({ access: 'read_only' })], 'sandbox'), /102,400/)
    assert.match(toldOfStores([row({ access: 'read_only' })], 'host'), /file tools/)
    assert.equal(toldOfStores([row({ type: 'file' })], 'sandbox'), '')
  })
})
