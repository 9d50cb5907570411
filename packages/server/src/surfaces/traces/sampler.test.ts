import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import { ROOT_CONTEXT } from '@opentelemetry/api'
import * as library from '@opentelemetry/sdk-trace'
import { readConfig } from '../../ground/config/config.ts'
import { createSampler } from './sampler.ts'

const samplingOf = (variables: Record<string, string>) => {
  const read = readConfig({ PLATFORM_ROOT_SECRET: 'a root secret of tests', ...variables })
  if (!read.ok) throw new Error(read.problems.join('\n'))
  return read.config.traces
}
const described = (variables: Record<string, string>) =>
  String(createSampler(library, samplingOf(variables)))

describe('the sampler', () => {
  it('is the one that the variables name, and takes every trace without them', () => {
    assert.match(described({}), /ParentBased.*AlwaysOn/)
    assert.match(described({ OTEL_TRACES_SAMPLER: 'always_off' }), /^AlwaysOff/)
    const quarter = {
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.25',
    }
    assert.match(
      described({ OTEL_TRACES_SAMPLER: 'parentbased_always_off' }),
      /ParentBased.*root=AlwaysOff/,
    )
    assert.match(described(quarter), /ParentBased.*TraceIdRatioBased\{0\.25\}/)
  })

  it('of a share takes all traces of a session or none', () => {
    const half = createSampler(library, { sampler: 'parentbased_traceidratio', share: 0.5 })
    const decisionFor = (session: string): number => {
      const traceId = randomBytes(16).toString('hex')
      const attributes = { 'gen_ai.conversation.id': session }
      return half.shouldSample(ROOT_CONTEXT, traceId, 'a turn', 0, attributes, []).decision
    }
    const taken = Array.from({ length: 100 }, (_, n) => {
      const decisions = new Set(Array.from({ length: 20 }, () => decisionFor(`sesn_${n}`)))
      assert.equal(decisions.size, 1)
      return decisions.has(library.SamplingDecision.RECORD_AND_SAMPLED)
    })
    const share = taken.filter(Boolean).length
    assert.ok(share > 20 && share < 80, `${share} of 100 sessions`)
  })

  it('of another name, and a share that is none, are refused by name', () => {
    assert.throws(() => described({ OTEL_TRACES_SAMPLER: 'some' }), /OTEL_TRACES_SAMPLER: "some"/)
    for (const share of ['2', '-1', 'half'])
      assert.throws(
        () => described({ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: share }),
        /OTEL_TRACES_SAMPLER_ARG/,
      )
  })
})
