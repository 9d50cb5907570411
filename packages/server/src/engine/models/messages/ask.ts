/** Asks the model of a request, over its own wire where it is that of the caller, and counts what it uses. */
import type { Readable } from 'node:stream'
import type { Clock } from '@steward/base/time.ts'
import type { HeaderPairs } from '@steward/gate/outbound.ts'
import type { ModelFailure } from '@steward/model/model.ts'
import { modelRequestEnded } from '@steward/model/observed-model.ts'
import { answerLimits } from '@steward/model/wire/bounded-answer.ts'
import { modelSecrets, toModelFailure } from '@steward/model/wire/failure.ts'
import type { MessageCreateParams, TokenCountParams } from '@steward/protocol/messages.ts'
import { PlatformError } from '../../../ground/core/errors.ts'
import type { Namer } from '../../../ground/core/security/dial.ts'
import type { ModelReach, ReachedModel } from '../../../resources/model-cards/resolve.ts'
import type { ModelUpstream } from '../pass-on.ts'
import { cutAt, passOn } from '../pass-on.ts'
import type { MessageEvent } from './answer.ts'
import { errorEvent, eventFrame, messageError } from './answer.ts'
import { readObject, relayEvents } from './relay.ts'
import { messageEvents, wholeMessage } from './translate-answer.ts'
import { effortOf, samplingOf, translateRequest } from './translate-request.ts'
import type { UsageMeter } from './usage-meter.ts'

export type AskDeps = {
  models: Record<Namer, ModelUpstream>
  modelAnswerMs: number
  clock: Clock
}

export type BegunAnswer =
  | { form: 'whole'; message: object }
  /** The model has begun to answer: an error before that was thrown. */
  | { form: 'stream'; frames: AsyncGenerator<string> }

export type AskedMessage = {
  id: string
  body: MessageCreateParams
  /** The headers of the wire: version and betas. */
  headers: HeaderPairs
  signal: AbortSignal
  meter: UsageMeter
}

const wire = 'anthropic-messages'

/** True when the model's endpoint takes a request of the caller as it is. A cloud wants another one of it. */
export const speaksMessages = (reach: ModelReach): reach is ModelReach & { spec: ReachedModel } =>
  reach.spec?.api === wire && !reach.spec.cloud

export const askModel = (
  deps: AskDeps,
  reach: ModelReach,
  asked: AskedMessage,
): Promise<BegunAnswer> =>
  speaksMessages(reach) ? askSameWire(deps, reach.spec, asked) : askOtherWire(reach, asked)

/** Tells metrics of a request that was passed on; a translated one is told by its model. */
export function tellPassedOn(reach: ModelReach, meter: UsageMeter, ms: number): void {
  if (!speaksMessages(reach)) return
  const { provider, model } = reach.spec
  modelRequestEnded.tell({
    provider,
    model,
    conversation: undefined,
    outcome: meter.outcome(),
    failure: meter.outcome() === 'failed' ? 'request_failed' : undefined,
    ms,
    firstMs: undefined,
    usage: meter.read(),
  })
}

async function askSameWire(
  deps: AskDeps,
  spec: ReachedModel,
  { body, headers, signal, meter }: AskedMessage,
): Promise<BegunAnswer> {
  const said = await passBounded(deps, spec, {
    path: '/v1/messages',
    body: { ...body, model: spec.model },
    headers,
    signal,
  })
  if (body.stream === true) return { form: 'stream', frames: relayEvents(said, body.model, meter) }
  const message = await readObject(said)
  if (message?.['type'] !== 'message')
    throw new PlatformError('bad_gateway', 'the model answered something that is no message')
  meter.saw(message['usage'])
  meter.end()
  return { form: 'whole', message: { ...message, model: body.model } }
}

type PassedOn = { path: string; body: object; headers: HeaderPairs; signal: AbortSignal }

/** The body of an answer. Throws the error that the provider has answered. */
async function passBounded(
  { models, modelAnswerMs: ms, clock }: AskDeps,
  spec: ReachedModel,
  request: PassedOn,
): Promise<Readable> {
  const { status, headers, body } = await passOn(models[spec.named], wire, spec, request)
  const { errorBytes, answerBytes, errorMs } = answerLimits
  if (status >= 200 && status < 300) return cutAt({ bytes: answerBytes, ms, clock }, body)
  const error = await readObject(cutAt({ bytes: errorBytes, ms: errorMs, clock }, body)).catch(
    () => undefined,
  )
  const after = headers.find(([name]) => name.toLowerCase() === 'retry-after')?.[1]
  throw messageError(failureOf(spec, status, error, Number(after ?? '')))
}

function failureOf(
  spec: ReachedModel,
  status: number,
  error: object | undefined,
  afterSeconds: number,
): ModelFailure {
  const message = `${status} ${error ? JSON.stringify(error) : 'without a reason'}`
  const retryAfterMs = afterSeconds > 0 ? { retryAfterMs: afterSeconds * 1_000 } : {}
  return toModelFailure(
    { message, overflow: false, sent: true, ...retryAfterMs },
    modelSecrets(spec),
  )
}

async function askOtherWire(
  reach: ModelReach,
  { id, body, signal, meter }: AskedMessage,
): Promise<BegunAnswer> {
  const sampling = samplingOf(reach.spec?.api ?? 'offline', body)
  const model = reach.open({ effort: effortOf(body), sampling })
  const call = { ...translateRequest(body, model.origin), signal }
  const named = { id, model: body.model }
  if (body.stream !== true)
    return { form: 'whole', message: await wholeMessage(model.stream(call), named, meter) }
  const events = messageEvents(model.stream(call), named, meter)
  return { form: 'stream', frames: framesFrom(await events.next(), events) }
}

async function* framesFrom(
  first: IteratorResult<MessageEvent>,
  rest: AsyncGenerator<MessageEvent>,
): AsyncGenerator<string> {
  if (!first.done) yield eventFrame(first.value)
  for await (const event of rest) yield eventFrame(event)
}

/** Frames whose failure is told as the last of them, for the stream has begun. */
export async function* toldFrames(frames: AsyncGenerator<string>): AsyncGenerator<string> {
  try {
    yield* frames
  } catch (error) {
    const told =
      error instanceof PlatformError
        ? error
        : new PlatformError('bad_gateway', 'the answer of the model broke off')
    yield eventFrame(errorEvent(told))
  }
}

/** The provider's count of tokens. Undefined: nobody counts for this model. */
export async function countByProvider(
  deps: AskDeps,
  reach: ModelReach,
  asked: { body: TokenCountParams; headers: HeaderPairs; signal: AbortSignal },
): Promise<object | undefined> {
  if (!speaksMessages(reach)) return undefined
  const { body, headers, signal } = asked
  const request = {
    path: '/v1/messages/count_tokens',
    body: { ...body, model: reach.spec.model },
    headers,
    signal,
  }
  try {
    const counted = await readObject(await passBounded(deps, reach.spec, request))
    if (typeof counted?.['input_tokens'] === 'number') return counted
    throw new PlatformError('bad_gateway', 'the model answered something that is no count')
  } catch (error) {
    // Servers that speak the wire of messages often lack this path.
    if (error instanceof PlatformError && error.kind === 'not_found') return undefined
    throw error
  }
}
