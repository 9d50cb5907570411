/** `/v1/messages`: programs ask the models of their workspace, with its budgets and limits. Off by default. [messages] */
import type { HeaderPairs } from '@steward/gate/outbound.ts'
import { estimateMethod } from '@steward/harness/tokens.ts'
import {
  MessageCreateParams,
  MessageShown,
  TokenCountParams,
  TokenCountShown,
} from '@steward/protocol/messages.ts'
import type { Share } from '../../../ground/core/fairness/share.ts'
import { PlatformError } from '../../../ground/core/errors.ts'
import type { Ground } from '../../../ground/ground.ts'
import { historyBody } from '../../../ground/http/limits.ts'
import { actorOf } from '../../../ground/http/principal.ts'
import type { RouteReply } from '../../../ground/http/reply.ts'
import { jsonTextReply, streamReply } from '../../../ground/http/reply.ts'
import type { Route, RouteCall } from '../../../ground/http/route.ts'
import { section } from '../../../ground/http/section.ts'
import type { ModelReach, ReachModel } from '../../../resources/model-cards/resolve.ts'
import type { Quotas } from '../../../tenants/limits/quotas.ts'
import type { Spending } from '../../../tenants/limits/spending/spending.ts'
import type { Rules } from '../../../ground/core/rules/rules.ts'
import type { AskDeps } from './ask.ts'
import { askModel, countByProvider, tellPassedOn, toldFrames } from './ask.ts'
import type { CountedRequest, MessageCounting } from './counting.ts'
import { estimateRequest } from './estimate.ts'
import { checkParts } from './refused-parts.ts'
import type { UsageMeter } from './usage-meter.ts'
import { usageMeter } from './usage-meter.ts'

const messages = section('Messages', ['workspace'], '/v1/messages')

export type MessageRouteDeps = Ground &
  AskDeps & {
    /** False: `/v1/messages` does not exist. */
    messagesApi: boolean
    messageCounting: Pick<MessageCounting, 'begin'>
    /** Requests at once. */
    messageSlots: Pick<Share, 'take'>
    reachModel: ReachModel
    limits: {
      spending: Pick<Spending, 'refusal'>
      quotas: Pick<Quotas, 'known'>
      rules: Pick<Rules, 'check'>
    }
  }

type MessageCall<Body> = RouteCall<string, undefined, Body>

/** Headers of the caller that the provider gets. */
const wireHeaders = ({ header }: Pick<MessageCall<unknown>, 'header'>): HeaderPairs =>
  ['anthropic-version', 'anthropic-beta'].flatMap((name) => {
    const value = header(name)
    return value === undefined ? [] : [[name, value] as [string, string]]
  })

/** The version of the wire for callers that name none. */
const plainHeaders: HeaderPairs = [
  ['content-type', 'application/json'],
  ['accept', 'application/json'],
]
const usualVersion: [string, string] = ['anthropic-version', '2023-06-01']

function headersOf(call: Pick<MessageCall<unknown>, 'header'>): HeaderPairs {
  const own = wireHeaders(call)
  const hasVersion = own.some(([name]) => name === 'anthropic-version')
  return [...plainHeaders, ...(hasVersion ? own : [...own, usualVersion])]
}

export function messageRoutes(deps: MessageRouteDeps): Route[] {
  if (!deps.messagesApi) return []
  const { limits, messageSlots, messageCounting, reachModel } = deps

  function slotOf(tenant: string): () => void {
    const giveBack = messageSlots.take(tenant)
    if (giveBack) return giveBack
    if (limits.quotas.known(tenant, 'messages') === 0)
      throw new PlatformError(
        'forbidden',
        '/v1/messages is switched off for this workspace (quota messages is 0): ask an admin of the workspace or the operator',
      )
    throw new PlatformError(
      'rate_limited',
      'this workspace has as many requests of /v1/messages open as there is room for in this process (quota messages): wait for some, or try again later',
    )
  }

  async function reach(tenant: string, model: string): Promise<ModelReach> {
    const found = await reachModel(tenant, model)
    if ('refused' in found) throw new PlatformError('not_found', `model: ${found.refused}`)
    await limits.rules.check(tenant, 'models', found.names, 'model')
    return found
  }

  async function checkSpending(tenant: string, { price }: ModelReach): Promise<void> {
    const refusal = await limits.spending.refusal(tenant, price !== null)
    if (refusal !== undefined)
      throw new PlatformError('forbidden', refusal, { error_type: 'billing_error' })
  }

  async function create(call: MessageCall<MessageCreateParams>): Promise<RouteReply> {
    const { tenant, body } = call
    checkParts(body)
    const release = slotOf(tenant)
    let isStream = false
    try {
      const model = await reach(tenant, body.model)
      await checkSpending(tenant, model)
      const inputTokens = estimateRequest(body)
      const counted = await messageCounting.begin(call, {
        by: actorOf(call.principal),
        model: body.model,
        price: model.price,
        inputTokens,
      })
      const reply = await answer(
        call,
        model,
        { ...counted, meter: usageMeter(inputTokens) },
        release,
      )
      isStream = reply.reply === 'stream'
      return reply
    } finally {
      if (!isStream) release()
    }
  }

  /** A stream releases the slot itself. */
  async function answer(
    call: MessageCall<MessageCreateParams>,
    model: ModelReach,
    { id, meter, ...counted }: CountedRequest & { meter: UsageMeter },
    release: () => void,
  ): Promise<RouteReply> {
    const begun = performance.now()
    const over = new AbortController()
    const leave = () => {
      meter.leave()
      over.abort('the caller has gone')
    }
    const { signal } = call
    if (signal.aborted) leave()
    else signal.addEventListener('abort', leave, { once: true })
    let isStream = false
    try {
      const { body } = call
      const request = { id, body, headers: headersOf(call), signal: over.signal, meter }
      const asked = await askModel(deps, model, request)
      if (asked.form === 'whole') return jsonTextReply(JSON.stringify(asked.message))
      isStream = true
      return streamReply((gone) => streamed(asked.frames, gone))
    } finally {
      if (!isStream) await end()
    }

    async function end(): Promise<void> {
      signal.removeEventListener('abort', leave)
      over.abort('the request is over')
      tellPassedOn(model, meter, performance.now() - begun)
      await counted.end(meter.read())
    }

    async function* streamed(frames: AsyncGenerator<string>, gone: AbortSignal) {
      gone.addEventListener('abort', leave, { once: true })
      if (gone.aborted) leave()
      try {
        yield* toldFrames(frames)
      } finally {
        release()
        await end()
      }
    }
  }

  return [
    messages.post(
      '',
      {
        summary: 'Ask a model of the workspace',
        description:
          'The interface of the vendor, for programs without a session. A model of a card that speaks this wire gets the request as it is; for other models it is translated. Where the operator has not switched it on, 404.',
        body: MessageCreateParams,
        limits: historyBody,
        counted: 'messages',
        isStream: ({ stream }) => stream === true,
        answer: MessageShown,
        further: [{ status: 200, answer: 'stream', description: 'Events, with `stream: true`.' }],
      },
      create,
    ),
    messages.post(
      '/count_tokens',
      {
        summary: 'Count the tokens of a request',
        description:
          'The provider counts where it can. Else the answer is an estimate, and says so.',
        body: TokenCountParams,
        limits: historyBody,
        counted: 'messages',
        answer: TokenCountShown,
      },
      async (call) => {
        const { tenant, body, signal } = call
        checkParts(body)
        const release = slotOf(tenant)
        try {
          const model = await reach(tenant, body.model)
          const asked = { body, headers: headersOf(call), signal }
          const counted = await countByProvider(deps, model, asked)
          const input_tokens = estimateRequest(body)
          return counted ?? { input_tokens, is_estimate: true, method: estimateMethod }
        } finally {
          release()
        }
      },
    ),
  ]
}
