import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { takeYaml } from './draft-shape.ts'

void describe('a draft that was written as YAML', () => {
  void it('is taken when a form can show it, fields that nobody knows included', () => {
    const taken: unknown[] = []
    const body = { name: 'a', tools: [{ type: 'of_next_year', x: 1 }], other: true }
    assert.equal(
      takeYaml(body, (draft) => taken.push(draft)),
      undefined,
    )
    assert.deepEqual(taken, [body])
  })

  void it('is not taken while it is half written, and says which field it is', () => {
    for (const half of [
      { mcp_servers: [null] },
      { tools: [{ type: 'agent_toolset_20260401', configs: 'bash' }] },
      { tools: 'bash' },
      { metadata: [] },
      { multiagent: { agents: null } },
      { skills: [1] },
    ]) {
      const problem = takeYaml(half, () => assert.fail('it was taken'))
      assert.match(problem ?? '', new RegExp(Object.keys(half)[0] ?? ''))
    }
  })
})
