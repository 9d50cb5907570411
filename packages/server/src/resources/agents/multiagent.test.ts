import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { MultiagentParams } from '@steward/protocol/multiagent.ts'
import type { RequestedMultiagent } from './multiagent.ts'
import { mergeMultiagent } from './multiagent.ts'

const disabled = { type: 'disabled' } as const
const enabled = { type: 'enabled' } as const
const levels = (more: object) => MultiagentParams.parse({ type: 'multiagent_20261001', ...more })
const merged = (kept: RequestedMultiagent | null, more: object) =>
  mergeMultiagent(kept, levels(more))

const stored = mergeMultiagent(
  null,
  levels({
    advisor: { ...enabled, model: 'wise' },
    subagents: { ...enabled, inline_agents: disabled, predefined_agents: ['agent_a'] },
    workflows: disabled,
  }),
)

describe('the levels of a multiagent', () => {
  it('have their defaults where they are absent or null', () => {
    const defaults = {
      type: 'multiagent_20261001',
      advisor: disabled,
      subagents: { ...enabled, inline_agents: enabled, predefined_agents: [] },
      workflows: disabled,
    }
    assert.deepEqual(merged(null, { workflows: disabled }), defaults)
    const nulls = { advisor: null, subagents: null, workflows: disabled }
    assert.deepEqual(merged(stored, nulls), defaults)
  })

  it('stay if an update omits them', () => {
    assert.deepEqual(merged(stored, {}), stored)
    assert.deepEqual(merged(stored, { subagents: enabled }), stored)
  })

  it('are replaced one by one', () => {
    const subagents = { ...enabled, predefined_agents: ['agent_b'] }
    assert.deepEqual(merged(stored, { subagents }), {
      ...stored,
      subagents: { ...subagents, inline_agents: disabled },
    })
    const inline = { ...enabled, inline_agents: null, predefined_agents: null }
    assert.deepEqual(merged(stored, { subagents: inline }), {
      ...stored,
      subagents: { ...enabled, inline_agents: enabled, predefined_agents: [] },
    })
  })

  it('take defaults for the fields that an object of another type omits', () => {
    const off = merged(stored, { subagents: disabled })
    assert.deepEqual(off, { ...stored, subagents: disabled })
    assert.deepEqual(merged(off, { subagents: enabled }), {
      ...stored,
      subagents: { ...enabled, inline_agents: enabled, predefined_agents: [] },
    })
  })

  it('are refused by name where workflows would be enabled', () => {
    const coordinator: RequestedMultiagent = { type: 'coordinator', agents: ['agent_a'] }
    const refusal = /multiagent\.workflows: .*disabled/
    assert.throws(() => merged(null, {}), refusal)
    assert.throws(() => merged(coordinator, {}), refusal)
    assert.throws(() => merged(stored, { workflows: null }), refusal)
    assert.throws(() => levels({ workflows: enabled }), /not yet supported/)
  })
})
