import { isLegacyFamily } from './catalog.ts'
import type { CloudAuthority } from './cloud/authority.ts'
import type { Usage } from './model.ts'
import type { ModelSpec } from './spec.ts'
import { isWire } from './spec.ts'
import { requestAddress } from './wire/base-url.ts'
import { openModel } from './wire.ts'

/** `url`: the address that was asked. */
export type ProbeOutcome =
  | { ok: true; url: string }
  | { ok: false; url: string; status?: number; message: string }
  | { ok: null; reason: 'unsupported_provider'; message: string }

const notTried =
  'the key was not tried, because the service tries keys of two families alone by itself: the card runs, and POST /v1/ext/model_cards/:id/probe tries it'

/** Below the host of a cloud, the path depends on the cloud. */
const addressOf = (spec: ModelSpec): string =>
  isWire(spec.api) && URL.canParse(spec.base_url) && !spec.cloud
    ? requestAddress(spec.api, spec)
    : spec.base_url

/**
 * Asks the model for a few tokens. Only models of two providers are asked, unless `isWanted`. Never throws. `onUsage`: tokens that the
 * provider reports, also of a failure.
 */
export async function probeModel(
  spec: ModelSpec,
  options: {
    signal?: AbortSignal
    timeoutMs?: number
    onUsage?: (usage: Usage) => void
    isWanted?: boolean
    /** For a model that a cloud serves. */
    authority?: CloudAuthority
  } = {},
): Promise<ProbeOutcome> {
  if (!isLegacyFamily(spec.provider) && options.isWanted !== true)
    return { ok: null, reason: 'unsupported_provider', message: notTried }
  const url = addressOf(spec)
  const timeoutMs = options.timeoutMs ?? 6_000
  const timeout = AbortSignal.timeout(timeoutMs)
  const signal = options.signal === undefined ? timeout : AbortSignal.any([timeout, options.signal])
  const { effort: _effort, speed: _speed, ...plain } = spec
  const call = { system: '', tools: [], maxTokens: 16, signal }
  const ask = { role: 'user', content: [{ type: 'text', text: 'Say OK.' }] } as const
  for await (const event of openModel(plain, { authority: options.authority }).stream({
    ...call,
    messages: [{ ...ask, content: [...ask.content] }],
  })) {
    if (event.type !== 'end' && event.type !== 'failed') continue
    options.onUsage?.(event.usage)
    if (event.type === 'end') return { ok: true, url }
    const { status, message } = event.failure
    if (timeout.aborted)
      return { ok: false, url, message: `No answer within ${timeoutMs / 1000} s` }
    return { ok: false, url, ...(status !== undefined && { status }), message }
  }
  return { ok: false, url, message: 'No answer' }
}
