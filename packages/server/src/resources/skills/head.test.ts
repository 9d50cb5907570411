import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { headOf } from './head.ts'

describe('the head of a SKILL.md', () => {
  it('that is no YAML is refused with the place of the mistake', async () => {
    await assert.rejects(
      headOf(Buffer.from('---\na: b: c\n---\n')),
      /^Error: SKILL\.md: its head is not YAML: .* at line 1, column \d+$/,
    )
  })
})
