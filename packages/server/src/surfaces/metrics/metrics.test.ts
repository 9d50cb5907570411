import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { describe, it } from 'node:test'
import { modelRequestEnded } from '@steward/model/observed-model.ts'
import { toolCallEnded } from '@steward/harness/observations.ts'
import { createMetrics } from './metrics.ts'

describe('metrics of names that workspaces choose', () => {
  it('stay few, and in the form that Prometheus asks for', async () => {
    const problems: unknown[] = []
    const metrics = await createMetrics({}, (error) => problems.push(error))
    const usage = {
      ...{ input_tokens: 1, output_tokens: 1 },
      ...{ cache_read_input_tokens: 0, cache_creation_input_tokens: 0 },
    }
    for (let n = 0; n < 1_000; n++) {
      const model = `${n}"} 1\n# HELP evil\\\u0000${'x'.repeat(10_000)}`
      const ended = { outcome: 'answered', failure: undefined, ms: 1, firstMs: 1, usage } as const
      modelRequestEnded.tell({ provider: 'anthropic', model, conversation: undefined, ...ended })
      toolCallEnded.tell({ tool: model, callId: 'c', conversation: 'c', isError: false, ms: 1 })
    }
    const text = await metrics.text()
    metrics.close()
    assert.deepEqual(problems, [])
    const lines = text
      .split('\n')
      .filter((line) => /^steward_(model_requests|tool_calls)/.test(line))
    assert.ok(lines.length < 250, `${lines.length} series`)
    assert.ok(lines.every((line) => line.length < 1_000))
    assert.ok(!text.includes('\n# HELP evil'))
    execFileSync('promtool', ['check', 'metrics'], { input: text })
  })
})
