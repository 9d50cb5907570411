/**
 * Takes the requests of a wire's client to a cloud. The Messages wire has another address there, and fields that stand
 * elsewhere. The answer comes back in the form of the wire.
 */
import type { CloudFailure } from '@steward/cloud/identity.ts'
import type { ModelSpec } from '../spec.ts'
import type { JsonObject } from '../wire/documents.ts'
import type { CloudAccess } from './access.ts'
import { vertexPath } from './access.ts'
import type { CloudAuthority } from './authority.ts'
import { eventStreamDecoder, eventStreamType } from './event-stream.ts'
import { processFetch, withFetch } from '../wire/observed-fetch.ts'
import { parsedRecord } from './json.ts'
import { wireError } from './provider-errors.ts'

type Fetch = typeof globalThis.fetch
type CloudSpec = Pick<ModelSpec, 'api' | 'base_url' | 'api_key'> & { cloud: CloudAccess }
type CloudRequest = { url: string; headers: Record<string, string>; body: string }

/** Headers that name a key, or what only Anthropic's own API reads. */
const dropped =
  /^(x-api-key|api-key|x-goog-api-key|authorization|x-stainless-.*|anthropic-dangerous-.*|content-length|host)$/i

const apiVersions = { bedrock: 'bedrock-2023-05-31', vertex: 'vertex-2023-10-16' } as const

export function cloudTransport(spec: CloudSpec, authority: CloudAuthority, fetch: Fetch): Fetch {
  const { cloud, api_key } = spec

  async function send(request: CloudRequest, init: RequestInit): Promise<Response | CloudFailure> {
    const asked = { ...request, method: 'POST' }
    // The client of one wire runs within a fetch that leads here.
    const signed = await withFetch(processFetch, () => authority.authorize(cloud, asked, api_key))
    if (!signed.ok) return signed
    const { url, body, method } = asked
    return fetch(url, { ...init, method, body, headers: signed.headers })
  }

  return async (input, init = {}) => {
    const given = new Headers(init.headers)
    const request = rewritten(spec, urlOf(input), given, textOf(init.body))
    const first = await send(request, init)
    if (isFailure(first)) return failureResponse(first)
    if (!isStale(first) || !authority.forget(cloud)) return answerOf(spec, first)
    await first.body?.cancel()
    const second = await send(request, init)
    return isFailure(second) ? failureResponse(second) : answerOf(spec, second)
  }
}

/** Servers replace the class of responses, so that it tells nothing. */
const isFailure = (outcome: Response | CloudFailure): outcome is CloudFailure =>
  'retryable' in outcome

/** The credential may have ended, or was taken back. */
const isStale = ({ status, headers }: Response): boolean =>
  status === 401 ||
  (status === 403 &&
    /^(ExpiredToken|UnrecognizedClient|InvalidSignature)/.test(
      headers.get('x-amzn-errortype') ?? '',
    ))

function urlOf(input: Parameters<Fetch>[0]): string {
  if (typeof input === 'string') return input
  return 'url' in input ? input.url : input.href
}

function textOf(body: RequestInit['body']): string {
  if (typeof body !== 'string') throw new TypeError('the body of a request to a model is a text')
  return body
}

function rewritten(spec: CloudSpec, url: string, given: Headers, text: string): CloudRequest {
  const headers = Object.fromEntries([...given].filter(([name]) => !dropped.test(name)))
  const body = parsedRecord(text) ?? {}
  const { cloud } = spec
  if (spec.api === 'anthropic-messages')
    return rewrittenMessages(cloud, spec.base_url.replace(/\/+$/, ''), headers, body)
  if ('model' in body) body.model = cloud.model
  return { url, headers, body: JSON.stringify(body) }
}

function rewrittenMessages(
  cloud: CloudAccess,
  base: string,
  given: Record<string, string>,
  body: JsonObject,
): CloudRequest {
  if (cloud.type === 'foundry') {
    const sent = JSON.stringify({ ...body, model: cloud.model })
    return { url: `${base}/v1/messages`, headers: given, body: sent }
  }
  const { model: _model, ...rest } = body
  const { 'anthropic-version': _version, ...headers } = given
  const sent: JsonObject = { anthropic_version: apiVersions[cloud.type], ...rest }
  const id = encodeURIComponent(cloud.model)
  if (cloud.type === 'vertex') {
    const path = `${vertexPath(cloud)}/publishers/anthropic/models/${id}:streamRawPredict`
    return { url: base + path, headers, body: JSON.stringify(sent) }
  }
  delete sent.stream
  const { 'anthropic-beta': betas, ...others } = headers
  if (betas !== undefined) sent.anthropic_beta = betas.split(',').map((beta) => beta.trim())
  return {
    url: `${base}/model/${id}/invoke-with-response-stream`,
    headers: { ...others, accept: eventStreamType },
    body: JSON.stringify(sent),
  }
}

async function answerOf({ cloud, api }: CloudSpec, response: Response): Promise<Response> {
  const { body, ok, headers, status } = response
  // Google's own client reads Google's errors.
  if (!ok) return api === 'google-generative-ai' ? response : wireError(response)
  const isFramed = headers.get('content-type')?.startsWith(eventStreamType) ?? false
  if (cloud.type !== 'bedrock' || !isFramed || body === null) return response
  const shown = new Headers(headers)
  shown.set('content-type', 'text/event-stream')
  shown.delete('content-length')
  return new Response(body.pipeThrough(await eventStreamDecoder()), { status, headers: shown })
}

/** As the wires say it. What may pass is an overload, so that the call is repeated. */
function failureResponse({ message, retryable }: CloudFailure): Response {
  const status = retryable ? 503 : 401
  const type = retryable ? 'overloaded_error' : 'authentication_error'
  const error = { type, code: status, message: `The cloud gave no credential: ${message}` }
  return Response.json({ type: 'error', error }, { status })
}
