import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { processorMs } from '@steward/base/cost-fixture.ts'
import { readSkillHead } from './head.ts'

describe('the head of a SKILL.md', () => {
  it('that is no YAML is refused with the position of the mistake', async () => {
    await assert.rejects(
      readSkillHead(Buffer.from('---\na: b: c\n---\n')),
      /^Error: SKILL\.md: its head is not YAML: .* at line 1, column \d+; put a text that holds ": " in quotes$/,
    )
  })

  it('takes no time, whatever it holds', async () => {
    const heads = [
      '? '.repeat(400),
      `{${'a,'.repeat(8_000)}`,
      `[${','.repeat(16_000)}`,
      '}'.repeat(16_000),
    ]
    for (const head of heads) {
      const began = processorMs()
      await assert.rejects(
        readSkillHead(Buffer.from(`---\n${head}\n---\n`)),
        /^Error: SKILL\.md: its head/,
      )
      assert.ok(processorMs() - began < 1_000, head.slice(0, 10))
    }
  })

  it('may hold keys of its own, lists and maps', async () => {
    const head =
      'name: own\ndescription: >-\n  Two\n  lines\ntools: [a, b]\nmetadata: {1: one, true: x}'
    assert.deepEqual(await readSkillHead(Buffer.from(`---\n${head}\n---\n`)), {
      name: 'own',
      description: 'Two lines',
    })
  })
})
