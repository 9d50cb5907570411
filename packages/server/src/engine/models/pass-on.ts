/** Passes a request of a wire on to its model: the key is added here, and the answer is bounded. */
import type { Readable } from 'node:stream'
import { Transform, pipeline } from 'node:stream'
import type { Clock } from '@steward/base/time.ts'
import type { HeaderPairs, Outbound, OutboundAnswer } from '@steward/gate/outbound.ts'
import type { Mask } from '@steward/mask/mask.ts'
import { createMask } from '@steward/mask/mask.ts'
import type { ModelSpec, ModelWire } from '@steward/model/spec.ts'
import { clientBaseUrl } from '@steward/model/wire/base-url.ts'
import { modelSecrets } from '@steward/model/wire/failure.ts'
import { PlatformError } from '../../ground/core/errors.ts'

/** The endpoints of models, which mask the secrets of a request in its answer. */
export type ModelUpstream = {
  send(request: Omit<Outbound, 'body'> & { body: Buffer }, mask?: Mask): Promise<OutboundAnswer>
}

export type OnwardRequest = {
  /** The path below the base URL as the client of the wire expects it. */
  path: string
  /** Headers of the caller that are passed on. A header of the model's card wins. */
  headers: HeaderPairs
  body: object
  signal: AbortSignal
}

export async function passOn(
  upstream: ModelUpstream,
  wire: ModelWire,
  spec: ModelSpec,
  { path, headers: own, body, signal }: OnwardRequest,
): Promise<OutboundAnswer> {
  const text = Buffer.from(JSON.stringify(body))
  const added: [string, string][] = [
    ...Object.entries({ ...spec.native_config?.headers, ...spec.headers }),
    wire === 'anthropic-messages'
      ? ['x-api-key', spec.api_key]
      : ['authorization', `Bearer ${spec.api_key}`],
    ['content-length', String(text.length)],
    // A compressed answer could not be searched for the key.
    ['accept-encoding', 'identity'],
  ]
  const names = new Set(added.map(([name]) => name.toLowerCase()))
  const headers = [...own.filter(([name]) => !names.has(name.toLowerCase())), ...added]
  const url = new URL(clientBaseUrl(wire, spec) + path)
  try {
    return await upstream.send(
      { method: 'POST', url, headers, body: text, signal },
      createMask(modelSecrets(spec)),
    )
  } catch (error) {
    if (signal.aborted) throw error
    throw Object.assign(new PlatformError('bad_gateway', 'the model could not be reached'), {
      cause: error,
    })
  }
}

/**
 * Passes at most `bytes` on, within `ms`. Beyond a limit the body breaks off, so that a partial answer cannot be taken
 * for a complete one.
 */
export function cutAt(
  { bytes: most, ms, clock }: { bytes: number; ms: number; clock: Clock },
  body: Readable,
): Readable {
  let bytes = 0
  const over = new AbortController()
  const counted = new Transform({
    transform(piece: Buffer, _encoding, done) {
      bytes += piece.length
      if (bytes <= most) return done(null, piece)
      done(new Error(`the model sent more than ${most} bytes`))
    },
  })
  void clock.sleep(ms, over.signal).then(() => {
    if (!over.signal.aborted)
      counted.destroy(new Error(`the model took longer than ${ms / 60_000} minutes`))
  })
  // The reader of the body gets the error.
  return pipeline(body, counted, () => over.abort('the answer is over'))
}
