import { isLegacyFamily } from './catalog.ts'
import type { Usage } from './model.ts'
import type { ModelSpec } from './spec.ts'
import { openModel } from './wire.ts'

export type ProbeOutcome =
  | { ok: true }
  | { ok: false; status?: number; message: string }
  | { ok: null; reason: 'unsupported_provider' }

/**
 * Asks the model for a few tokens. Only models of two providers are asked. Never throws. `onUsage`: tokens that the
 * provider reports, also of a failure.
 */
export async function probeModel(
  spec: ModelSpec,
  options: {
    signal?: AbortSignal
    timeoutMs?: number
    onUsage?: (usage: Usage) => void
  } = {},
): Promise<ProbeOutcome> {
  if (!isLegacyFamily(spec.provider)) return { ok: null, reason: 'unsupported_provider' }
  const timeoutMs = options.timeoutMs ?? 6_000
  const timeout = AbortSignal.timeout(timeoutMs)
  const signal = options.signal === undefined ? timeout : AbortSignal.any([timeout, options.signal])
  const { effort: _effort, speed: _speed, ...plain } = spec
  const call = { system: '', tools: [], maxTokens: 16, signal }
  const ask = { role: 'user', content: [{ type: 'text', text: 'Say OK.' }] } as const
  for await (const event of openModel(plain).stream({
    ...call,
    messages: [{ ...ask, content: [...ask.content] }],
  })) {
    if (event.type !== 'end' && event.type !== 'failed') continue
    options.onUsage?.(event.usage)
    if (event.type === 'end') return { ok: true }
    const { status, message } = event.failure
    if (timeout.aborted) return { ok: false, message: `No answer within ${timeoutMs / 1000} s` }
    return { ok: false, ...(status !== undefined && { status }), message }
  }
  return { ok: false, message: 'No answer' }
}
