import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { systemPrompt } from './prompt.ts'

const open = { allow: null, deny: [] }

void describe('the system prompt', () => {
  void it('says to an agent with tools where they work', () => {
    const sandbox = systemPrompt({
      agent: 'You are kind.',
      toolHost: 'sandbox',
      reach: open,
      parts: [],
    })
    assert.match(sandbox, /^You are kind\.\n\nYou work in a sandbox.* reach the internet through/)
  })

  void it('says which hosts commands reach', () => {
    const reaching = (allow: string[] | null, deny: string[]) =>
      systemPrompt({ agent: null, toolHost: 'sandbox', reach: { allow, deny }, parts: [] })
    assert.match(reaching([], []), /no network\.$/)
    const some = reaching(['a.example', '*.b.example'], ['c.example'])
    assert.match(some, /reach only a\.example, \*\.b\.example, .*Refused: c\.example\.$/)
    const many = Array.from({ length: 1000 }, (_, index) => `h${index}.example`)
    assert.match(reaching(many, []), /h49\.example and others/)
  })

  void it('does not call the machine itself a sandbox', () => {
    const host = systemPrompt({ agent: null, toolHost: 'host', reach: open, parts: [] })
    assert.doesNotMatch(host, /sandbox/)
  })

  void it('says nothing about a sandbox to an agent without tools', () => {
    const alone = { agent: 'You are kind.', toolHost: undefined, reach: open, parts: [] }
    assert.equal(systemPrompt(alone), 'You are kind.')
    assert.equal(systemPrompt({ ...alone, agent: null }), '')
  })
})
