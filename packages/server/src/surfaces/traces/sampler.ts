/** The sampler that the settings name. */
import { createHash } from 'node:crypto'
import type * as sdk from '@opentelemetry/sdk-trace'
import type { Config } from '../../ground/config/config.ts'
import { attributeNames } from './conventions.ts'

type SamplerLibrary = Pick<
  typeof sdk,
  'AlwaysOnSampler' | 'AlwaysOffSampler' | 'ParentBasedSampler' | 'TraceIdRatioBasedSampler'
>
export type Sampling = Pick<Config['traces'], 'sampler' | 'share'>

export function createSampler(library: SamplerLibrary, { sampler, share }: Sampling): sdk.Sampler {
  switch (sampler) {
    case 'always_on':
      return new library.AlwaysOnSampler()
    case 'always_off':
      return new library.AlwaysOffSampler()
    case 'traceidratio':
      return bySession(new library.TraceIdRatioBasedSampler(share))
    case 'parentbased_always_on':
    case 'parentbased_always_off':
    case 'parentbased_traceidratio': {
      const own = {
        parentbased_always_on: 'always_on',
        parentbased_always_off: 'always_off',
        parentbased_traceidratio: 'traceidratio',
      } as const
      return new library.ParentBasedSampler({
        root: createSampler(library, { sampler: own[sampler], share }),
      })
    }
  }
}

/** Samples whole sessions: each message begins a trace of its own, and a few traces of a session tell little. */
const bySession = (sampler: sdk.Sampler): sdk.Sampler => ({
  shouldSample(context, traceId, name, kind, attributes, links) {
    const session = attributes[attributeNames.conversation]
    const sampledBy = typeof session === 'string' ? idOf(session) : traceId
    return sampler.shouldSample(context, sampledBy, name, kind, attributes, links)
  },
  toString: () => sampler.toString(),
})

/** A session's id as an evenly distributed trace id. */
const idOf = (session: string): string =>
  createHash('sha256').update(session).digest('hex').slice(0, 32)
