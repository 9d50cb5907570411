/**
 * Gives harnesses on other machines access to a model. The session of a claim reaches its own model over the model's
 * wire; the model key is added here. [worker/model-gateway/own-model]
 */
import { answerLimits } from '@steward/model/wire/bounded-answer.ts'
import type { ModelWire } from '@steward/model/spec.ts'
import { z } from 'zod'
import type { Spending } from '../../tenants/limits/spending/spending.ts'
import type { Rules } from '../../ground/core/rules/rules.ts'
import type { Namer } from '../../ground/core/security/dial.ts'
import { forbidden, invalid } from '../../ground/core/errors.ts'
import type { TenantRef } from '../../ground/database/database.ts'
import type { ModelUpstream } from '../models/pass-on.ts'
import { cutAt, passOn } from '../models/pass-on.ts'
import { parseInput } from '../../ground/http/bodies/body.ts'
import { historyBody } from '../../ground/http/limits.ts'
import type { RawRequest, Route } from '../../ground/http/route.ts'
import { section } from '../../ground/http/section.ts'
import type { SpecOfModel } from '../../resources/model-cards/resolve.ts'
import { readHead } from '../../sessions/log/head.ts'
import { sessionStore } from '../../sessions/rows/sessions.ts'
import { underClaims } from '../../sessions/work/ending.ts'
import { fromJson } from '../../ground/core/text/json-text.ts'
import type { Ground } from '../../ground/ground.ts'

const gateway = section('Workers', ['claim'], '/v1/ext/model-gateway/:session_id', 'session')

/** The supported wires, with their paths here and at the provider, below a base URL as each client expects it. */
const paths = {
  'anthropic-messages': { here: '/v1/messages', there: '/v1/messages' },
  'openai-completions': { here: '/v1/chat/completions', there: '/chat/completions' },
  'openai-responses': { here: '/v1/responses', there: '/responses' },
} as const satisfies Partial<Record<ModelWire, { here: string; there: string }>>
type GatewayWire = keyof typeof paths

/** Headers of the caller that are passed on. All others stop here, the caller's token among them. */
const requestHeaders = /^(accept|content-type|anthropic-(version|beta)|openai-beta)$/i
const answerHeaders =
  /^(content-type|content-encoding|retry-after|request-id|x-request-id|anthropic-ratelimit-.*|x-ratelimit-.*)$/i

const Asked = z.looseObject({ model: z.string() })

export function modelGatewayRoutes({
  specOfModel,
  models,
  limits,
  ...deps
}: Ground & {
  specOfModel: SpecOfModel
  models: Record<Namer, ModelUpstream>
  limits: { spending: Spending; rules: Rules }
  modelAnswerMs: number
}): Route[] {
  const under = underClaims(deps)

  async function pass(
    { db, tenant }: TenantRef,
    session: string,
    wire: GatewayWire,
    raw: RawRequest,
  ) {
    const [row, { budget }] = await Promise.all([
      sessionStore(db.read).row(tenant, session),
      readHead(db.read, tenant, session),
    ])
    if (budget !== null)
      throw forbidden(
        'this session has a budget, and requests through the model gateway are not counted: remove the budget, or let the service ask the model',
      )
    if (await limits.spending.isLimited(tenant))
      throw forbidden(
        'this workspace has a spend limit, and requests through the model gateway are not counted: remove the limit, or let the service ask the model',
      )
    const { model } = fromJson(row.agent)
    const spec = await specOfModel(tenant, model)
    if ('refused' in spec) throw invalid(`agent.model: ${spec.refused}`)
    if (spec.cloud)
      throw forbidden(
        `the model of this session is served by ${spec.cloud.type}, which the model gateway does not reach: let the service ask the model, or give the session a model with a key`,
      )
    await limits.rules.check(tenant, 'models', spec.names, 'agent.model')
    if (spec.api !== wire)
      throw forbidden(`the model of this session speaks ${spec.api}, and not ${wire}`)
    const body = parseInput(Asked, await raw.json())
    const handle = typeof model === 'string' ? model : model.id
    if (body.model !== spec.model && body.model !== handle)
      throw forbidden(`model: this session's model is ${handle}, and no other`)
    const {
      status,
      headers,
      body: said,
    } = await passOn(models[spec.named], wire, spec, {
      path: paths[wire].there,
      headers: raw.headers.filter(([name]) => requestHeaders.test(name)),
      body: { ...body, model: spec.model },
      signal: raw.signal,
    })
    const { errorBytes, answerBytes } = answerLimits
    const bytes = status < 400 ? answerBytes : errorBytes
    const within = { bytes, ms: deps.modelAnswerMs, clock: deps.clock }
    const shown = headers.filter(([name]) => answerHeaders.test(name))
    return { reply: 'raw' as const, status, headers: shown, body: cutAt(within, said) }
  }

  return (Object.keys(paths) as GatewayWire[]).map((wire) =>
    gateway.raw.post(
      paths[wire].here,
      {
        limits: historyBody,
        summary: `Ask the session's model by ${wire}, with its key`,
        description:
          'Takes a request of that wire and passes the answer on, a stream too. Refused with 403 for a session with a budget, and in a workspace with a spend limit.',
        bytes: {
          type: 'application/json',
          description: `A request of ${wire}, whose \`model\` is that of the session.`,
        },
      },
      ({ db, tenant, principal, params }, raw) =>
        under(principal, raw, (asked) => pass({ db, tenant }, params.session_id, wire, asked)),
    ),
  )
}
