/** The sampler that the variables of OpenTelemetry name. */
import { createHash } from 'node:crypto'
import type * as sdk from '@opentelemetry/sdk-trace'
import { names } from './conventions.ts'

type Library = Pick<
  typeof sdk,
  'AlwaysOnSampler' | 'AlwaysOffSampler' | 'ParentBasedSampler' | 'TraceIdRatioBasedSampler'
>
type Variables = Readonly<Record<string, string | undefined>>

/** Throws on a name that OpenTelemetry does not have, and on a share that is none. */
export function samplerOf(library: Library, environment: Variables): sdk.Sampler {
  const name = environment['OTEL_TRACES_SAMPLER'] || 'parentbased_always_on'
  const [, isByParent, own = ''] =
    /^(parentbased_)?(always_on|always_off|traceidratio)$/.exec(name) ?? []
  const root = samplers[own]?.(library, environment)
  if (!root)
    throw new Error(`OTEL_TRACES_SAMPLER: ${JSON.stringify(name)} is no sampler that is known here`)
  return isByParent ? new library.ParentBasedSampler({ root }) : root
}

const samplers: Record<string, (library: Library, environment: Variables) => sdk.Sampler> = {
  always_on: ({ AlwaysOnSampler }) => new AlwaysOnSampler(),
  always_off: ({ AlwaysOffSampler }) => new AlwaysOffSampler(),
  traceidratio({ TraceIdRatioBasedSampler }, environment) {
    const given = environment['OTEL_TRACES_SAMPLER_ARG'] || '1'
    const share = Number(given)
    if (!(share >= 0 && share <= 1))
      throw new Error(
        `OTEL_TRACES_SAMPLER_ARG: ${JSON.stringify(given)} is not a number from 0 to 1`,
      )
    return bySession(new TraceIdRatioBasedSampler(share))
  },
}

/** A session is sampled whole or not at all: each message begins a trace of its own, and few of them tell little. */
const bySession = (sampler: sdk.Sampler): sdk.Sampler => ({
  shouldSample(context, traceId, name, kind, attributes, links) {
    const session = attributes[names.conversation]
    const sampledBy = typeof session === 'string' ? idOf(session) : traceId
    return sampler.shouldSample(context, sampledBy, name, kind, attributes, links)
  },
  toString: () => sampler.toString(),
})

/** As evenly spread as ids of traces. */
const idOf = (session: string): string =>
  createHash('sha256').update(session).digest('hex').slice(0, 32)
