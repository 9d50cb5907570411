import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { systemPrompt } from './prompt.ts'

void describe('the system prompt', () => {
  void it('tells an agent with tools where they work', () => {
    const sandbox = systemPrompt({ agent: 'You are kind.', place: 'sandbox' })
    assert.match(sandbox, /^You are kind\.\n\nYou work in a sandbox.*no network\.$/)
  })

  void it('does not call the machine itself a sandbox without network', () => {
    assert.doesNotMatch(systemPrompt({ agent: null, place: 'host' }), /sandbox|no network/)
  })

  void it('says nothing of a place to an agent without tools', () => {
    assert.equal(systemPrompt({ agent: 'You are kind.', place: undefined }), 'You are kind.')
    assert.equal(systemPrompt({ agent: null, place: undefined }), '')
  })
})
