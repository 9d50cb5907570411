/** Spans of requests and turns, made from observations of the process. Loaded only when traces are on. */
import type { Attributes, Context, Span, SpanContext, Tracer } from '@opentelemetry/api'
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { listenWith } from '@steward/base/observation.ts'
import { toolCallEnded } from '@steward/harness/observations.ts'
import { modelRequestEnded } from '@steward/model/observed-model.ts'
import type { EndedModelRequest } from '@steward/model/observed-model.ts'
import { turnBegun, turnEnded } from '../../engine/runner/observations.ts'
import {
  callerFound,
  requestAnswered,
  requestStarted,
} from '../../ground/http/request-observations.ts'
import { boundedMap } from './bounded-map.ts'
import type { Causes } from './causes.ts'
import { attributeNames, operationNames } from './conventions.ts'
import { parseTraceparent } from './traceparent.ts'

/** The most open requests, causes and unended turns that are remembered. The oldest are forgotten first. */
export const mostKept = 10_000

/** Routes that machines call every few seconds. */
const untraced: ReadonlySet<string | undefined> = new Set(['/healthz', '/readyz'])

type SpanDeps = { tracer: Tracer; causes: Causes; listen: ReturnType<typeof listenWith> }

export type FollowedWork = { contextOfTurn(session: string): SpanContext | undefined; stop(): void }

export function followWork(
  tracer: Tracer,
  causes: Causes,
  failed: (error: unknown) => void,
): FollowedWork {
  const listen = listenWith(failed)
  const requests = followRequests({ tracer, causes, listen })
  const turns = followTurns({ tracer, causes, listen })
  return {
    contextOfTurn: turns.contextOf,
    stop() {
      for (const stop of [...requests, ...turns.listening]) stop()
      causes.stop()
    },
  }
}

const below = (parent: SpanContext | undefined): Context =>
  parent ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT

function fail(span: Span, type: string): void {
  span.setAttribute(attributeNames.errorType, type)
  span.setStatus({ code: SpanStatusCode.ERROR })
}

function followRequests({ tracer, causes, listen }: SpanDeps): (() => void)[] {
  /** `session`: the session in which the request may cause a turn. */
  const open = boundedMap<{ span: Span; session: string | undefined }>(mostKept)
  return [
    listen(requestStarted, ({ requestId, method, route, session, traceparent }) => {
      if (untraced.has(route)) return
      const attributes: Attributes = {
        [attributeNames.method]: method,
        [attributeNames.requestId]: requestId,
        ...(route !== undefined && { [attributeNames.route]: route }),
        ...(session !== undefined && { [attributeNames.conversation]: session }),
      }
      const title = route === undefined ? method : `${method} ${route}`
      const options = { kind: SpanKind.SERVER, attributes }
      const span = tracer.startSpan(title, options, below(parseTraceparent(traceparent)))
      open.set(requestId, { span, session: method === 'POST' ? session : undefined })
    }),
    // A request becomes a cause only here: without a credential, a caller must not become a cause or wake another
    // process.
    listen(callerFound, ({ requestId }) => {
      const request = open.get(requestId)
      if (request?.session !== undefined) causes.set(request.session, request.span.spanContext())
    }),
    listen(requestAnswered, ({ requestId, status }) => {
      const { span, session } = open.take(requestId) ?? {}
      if (span && session !== undefined && status >= 400) causes.forget(session, span.spanContext())
      span?.setAttribute(attributeNames.status, status)
      if (span && status >= 500) fail(span, String(status))
      span?.end()
    }),
  ]
}

const failures: ReadonlySet<string> = new Set(['retries_exhausted', 'left', 'lost'])

function followTurns({ tracer, causes, listen }: SpanDeps) {
  /** The spans of turns, by session. */
  const turns = boundedMap<Span>(mostKept)
  const causedBy = boundedMap<SpanContext>(mostKept)
  const contextOf = (session: string) => turns.get(session)?.spanContext()

  /** Records the span of ended work, within the span of its turn. */
  function record(
    title: string,
    { session, kind, ms, ...own }: EndedWork,
    judge: (span: Span) => void,
  ): void {
    const startTime = Date.now() - ms
    const attributes = {
      ...own.attributes,
      ...(session !== '' && { [attributeNames.conversation]: session }),
    }
    const span = tracer.startSpan(title, { kind, startTime, attributes }, below(contextOf(session)))
    judge(span)
    span.end(startTime + ms)
  }

  const listening = [
    listen(turnBegun, ({ session, agent, provider, model }) => {
      const left = turns.take(session)
      if (left) fail(left, 'restart')
      left?.end()
      const attributes = {
        [attributeNames.operation]: operationNames.turn,
        [attributeNames.provider]: provider,
        [attributeNames.requestModel]: model,
        [attributeNames.agent]: agent,
        [attributeNames.conversation]: session,
      }
      const options = { kind: SpanKind.INTERNAL, attributes }
      const title = `${operationNames.turn} ${agent}`
      const cause = causes.get(session)
      if (cause) causedBy.set(session, cause)
      turns.set(session, tracer.startSpan(title, options, below(cause)))
    }),
    listen(turnEnded, ({ session, stop }) => {
      const span = turns.take(session)
      span?.setAttribute(attributeNames.stopReason, stop)
      if (span && failures.has(stop)) fail(span, stop === 'left' ? 'restart' : stop)
      span?.end()
      const cause = causedBy.take(session)
      // A turn that was left or lost continues in another process, so its cause stays.
      if (cause && stop !== 'left' && stop !== 'lost') causes.forget(session, cause)
    }),
    listen(modelRequestEnded, (request) => {
      const { conversation = '', model, outcome, failure, ms } = request
      // Requests for summaries use a prompt cache of their own, named after the session.
      const session = conversation.replace(/-compaction$/, '')
      const work = { session, kind: SpanKind.CLIENT, ms, attributes: modelAttributes(request) }
      record(`${operationNames.model} ${model}`, work, (span) => {
        if (outcome !== 'answered') fail(span, failure ?? outcome)
      })
    }),
    listen(toolCallEnded, ({ conversation: session, tool, callId, isError, ms }) => {
      const attributes = {
        [attributeNames.operation]: operationNames.tool,
        [attributeNames.tool]: tool,
        [attributeNames.toolCall]: callId,
        [attributeNames.toolType]: 'function',
      }
      const work = { session, kind: SpanKind.INTERNAL, ms, attributes }
      record(`${operationNames.tool} ${tool}`, work, (span) => {
        if (isError) fail(span, 'tool_error')
      })
    }),
  ]
  return { contextOf, listening }
}

type EndedWork = { session: string; kind: SpanKind; ms: number; attributes: Attributes }

function modelAttributes({ provider, model, usage, firstMs }: EndedModelRequest): Attributes {
  const { input_tokens, cache_read_input_tokens: read, cache_creation_input_tokens: kept } = usage
  return {
    [attributeNames.operation]: operationNames.model,
    [attributeNames.provider]: provider,
    [attributeNames.requestModel]: model,
    [attributeNames.isStream]: true,
    // The conventions count cached tokens as input.
    [attributeNames.inputTokens]: input_tokens + read + kept,
    [attributeNames.outputTokens]: usage.output_tokens,
    [attributeNames.cacheReadTokens]: read,
    [attributeNames.cacheWriteTokens]: kept,
    ...(firstMs !== undefined && { [attributeNames.firstChunk]: firstMs / 1_000 }),
  }
}
