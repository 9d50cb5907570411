import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Tools } from '@steward/protocol/tools.ts'
import { resolveTools } from '@steward/protocol/tools.ts'
import { toAgentTools, toolsFor } from './tools.ts'

const asks = { enabled: true, permission_policy: { type: 'always_ask' } } as const
const asked = [{ type: 'automations' } as const]
const policiesOf = (tools: Tools) =>
  tools.flatMap((tool) =>
    tool.type === 'agent_toolset_20260401' ? [tool.automations?.permission_policy?.type] : [],
  )

describe('the tool automations of an agent', () => {
  for (const enabled of [false, true]) {
    const what = enabled ? 'with a shell' : 'without a shell'
    const kept = resolveTools([
      { type: 'agent_toolset_20260401', default_config: { enabled }, automations: asks },
    ])

    // verifies: openai/agents/tools, tools/permission/ask
    it(`keeps its policy ${what}, in a change and in sessions`, () => {
      assert.deepEqual(policiesOf(toAgentTools(asked, kept).tools), ['always_ask'])
      for (const hasEnvironment of [false, true])
        assert.deepEqual(policiesOf(toolsFor(kept, hasEnvironment)), ['always_ask'])
    })

    // verifies: openai/agents/tools
    it(`is taken from an agent ${what} by a change without it`, () => {
      const [policy] = policiesOf(toAgentTools([], kept).tools)
      assert.equal(policy, undefined)
    })
  }

  // verifies: openai/agents/tools
  it('is allowed where the agent had it not', () => {
    assert.deepEqual(policiesOf(toAgentTools(asked).tools), ['always_allow'])
  })
})
