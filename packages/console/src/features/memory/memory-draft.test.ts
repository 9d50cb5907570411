import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Memory } from '../../lib/api/types.ts'
import { memoryDraftOf, updateOf } from './memory-draft.ts'

const memory: Memory = {
  id: 'mem_1',
  type: 'memory',
  memory_store_id: 'memstore_1',
  memory_version_id: 'memver_1',
  path: '/style.md',
  content: 'Be brief.',
  content_sha256: 'a'.repeat(64),
  content_size_bytes: 9,
  created_at: '2026-11-01T00:00:00Z',
  updated_at: '2026-11-01T00:00:00Z',
}

void describe('the form of a memory', () => {
  void it('sends what differs with the text that was read, and else nothing', () => {
    const draft = memoryDraftOf(memory)
    assert.equal(updateOf(memory, draft), undefined)
    assert.equal(updateOf(memory, { ...draft, path: ' /style.md ' }), undefined)
    const precondition = { type: 'content_sha256', content_sha256: memory.content_sha256 }
    assert.deepEqual(updateOf(memory, { ...draft, content: '' }), { content: '', precondition })
    assert.deepEqual(updateOf(memory, { ...draft, path: '/tone.md' }), {
      path: '/tone.md',
      precondition,
    })
  })
})
