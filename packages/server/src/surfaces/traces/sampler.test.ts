import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as library from '@opentelemetry/sdk-trace'
import { samplerOf } from './sampler.ts'

const described = (variables: Record<string, string>) => String(samplerOf(library, variables))

describe('the sampler', () => {
  it('is the one that the variables name, and takes every trace without them', () => {
    assert.match(described({}), /ParentBased.*AlwaysOn/)
    assert.match(described({ OTEL_TRACES_SAMPLER: 'always_off' }), /^AlwaysOff/)
    const quarter = {
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.25',
    }
    assert.match(described(quarter), /ParentBased.*TraceIdRatioBased\{0\.25\}/)
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
