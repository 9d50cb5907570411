/**
 * The integrations process: providers and returning browsers reach this process when the service itself is closed to
 * the outside. The process has no database and no key. With the secret of an app it checks deliveries itself. It passes
 * each delivery on and answers as the service answered, so that every acknowledged delivery is on the service's disk.
 * [settings/integrations-secret]
 */
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { explainListenFailure } from '@steward/base/listening.ts'
import type { Log } from '@steward/base/log.ts'
import { serverProgram } from '../../ground/config/settings.ts'
import type { Clock } from '@steward/base/time.ts'
import { guardedConnector, openGuard } from '../../ground/core/security/dial.ts'
import { createProxies } from '../../ground/core/security/proxies.ts'
import { Agent } from '../../ground/core/security/undici.ts'
import { appHeaders, webhookHeaders } from '../../capabilities/integrations/deliveries/entrance.ts'
import { githubIntegration } from '../../capabilities/integrations/github/github.ts'
import type { AppIntegration, RawDelivery } from '../../capabilities/integrations/integration.ts'
import { linearIntegration } from '../../capabilities/integrations/linear/linear.ts'
import { deliveryBody } from '../../capabilities/integrations/deliveries/receive.ts'
import { slackIntegration } from '../../capabilities/integrations/slack/slack.ts'
import { openFilesLimit } from '../../ground/core/open-files.ts'
import { PlatformError, unauthorized } from '../../ground/core/errors.ts'
import { newId } from '../../ground/core/text/ids.ts'
import { readText, bodyTooLarge } from '../../ground/http/bodies/body.ts'
import { errorAnswer } from '../../ground/http/errors.ts'
import { answerEarly, isBodyPending } from '../../ground/http/early-answer.ts'
import { boundConnections } from '../../ground/http/connections.ts'
import { stopListening, serverTimeouts } from '../../ground/http/server.ts'
import type { Answer, Pass } from './pass.ts'
import { createPass } from './pass.ts'
import type { ProcessSettings } from './settings.ts'

/** The most requests that are passed on at once. More requests would let strangers fill the memory with bodies. */
const mostAtOnce = 32
/** The longest wait for the service. Providers wait for 3 to 10 s, and repeat a delivery without an answer. */
const answerMs = 9_000
const closeMs = 10_000

const checks: Record<string, Pick<AppIntegration<never>, 'check'>> = {
  github: githubIntegration,
  linear: linearIntegration,
  slack: slackIntegration,
}

export async function startProcess(
  settings: ProcessSettings,
  { log, clock }: { log: Log; clock: Clock },
): Promise<{ port: number; close: () => Promise<void> }> {
  const timeouts = { headersTimeout: answerMs, bodyTimeout: answerMs }
  const connect = guardedConnector(openGuard(createProxies(settings.outgoing)))
  const agent = new Agent({ connect, connections: mostAtOnce, ...timeouts })
  const take = taking(createPass(settings, { agent, log }), checking(settings, clock))
  const server = createServer(serverTimeouts, (incoming, outgoing) => {
    take(incoming).then(
      (answer) => write(incoming, outgoing, answer),
      (error: unknown) => write(incoming, outgoing, refusalOf(error, log)),
    )
  })
  server.timeout = serverTimeouts.timeout
  boundConnections(server, Math.floor(openFilesLimit() / 2))
  server.listen(settings.port, settings.host)
  await explainListenFailure(serverProgram.settings.port.name, once(server, 'listening'))
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      await stopListening(server, clock)(closeMs)
      await agent.close()
    },
  }
}

/** Throws for a forged delivery. A delivery of an app whose secret this process does not have passes unchecked. */
type Check = (app: string, delivery: RawDelivery) => void

function checking({ signingSecrets }: ProcessSettings, clock: Clock): Check {
  const secrets = new Map(Object.entries(signingSecrets))
  return (app, delivery) => {
    const secret = secrets.get(app)
    if (secret === undefined) return
    const checked = checks[app]?.check(delivery, [secret], clock.now())
    if (checked?.kind === 'refused') throw unauthorized(`the delivery is ${checked.reason}`)
  }
}

type MatchedPath = { path: string; name: string; search: string }
type Handle = (incoming: IncomingMessage, matched: MatchedPath) => Promise<Answer>

/** `name`: the name of the app, or the id of the publication. */
const paths = {
  webhook: /^\/v1\/ext\/integrations\/webhook\/webhook\/(?<name>pub_\w{1,64})$/,
  app: /^\/v1\/ext\/integrations\/(?<name>github|linear|slack)\/webhook$/,
  callback: /^\/v1\/ext\/integrations\/(?<name>github|linear|slack)\/callback$/,
}

function taking(pass: Pass, check: Check): (incoming: IncomingMessage) => Promise<Answer> {
  const routes: [method: string, path: RegExp, handle: Handle][] = [
    [
      'POST',
      paths.webhook,
      async (incoming, matched) => {
        const body = await textOf(incoming)
        return pass(incoming, { ...matched, names: [...webhookHeaders, 'content-type'], body })
      },
    ],
    [
      'POST',
      paths.app,
      async (incoming, matched) => {
        const body = await textOf(incoming)
        const signed = appHeaders.map((name) => [name, incoming.headers[name]?.toString()])
        check(matched.name, { headers: Object.fromEntries(signed), body: Buffer.from(body) })
        return pass(incoming, { ...matched, names: appHeaders, body })
      },
    ],
    [
      'GET',
      paths.callback,
      (incoming, matched) => pass(incoming, { ...matched, names: ['cookie'], isPage: true }),
    ],
    [
      'POST',
      paths.callback,
      async (incoming, matched) => {
        const body = await textOf(incoming)
        return pass(incoming, { ...matched, names: ['cookie', 'content-type'], body, isPage: true })
      },
    ],
  ]
  let underWay = 0
  return async (incoming) => {
    const [path = '', ...query] = (incoming.url ?? '').split('?')
    if (path === '/healthz') return { status: 200, headers: {}, text: '{"status":"ok"}' }
    for (const [method, pattern, handle] of routes) {
      const name = incoming.method === method ? pattern.exec(path)?.groups?.['name'] : undefined
      if (name === undefined) continue
      if (underWay >= mostAtOnce)
        throw new PlatformError('unavailable', 'too many deliveries at once; send it again later')
      underWay++
      try {
        const search = query.length === 0 ? '' : `?${query.join('?')}`
        return await handle(incoming, { path, name, search })
      } finally {
        underWay--
      }
    }
    throw new PlatformError('not_found', 'the integrations process takes deliveries alone')
  }
}

async function textOf(incoming: IncomingMessage): Promise<string> {
  if (Number(incoming.headers['content-length'] ?? 0) > deliveryBody.bytes)
    throw bodyTooLarge(deliveryBody)
  return readText(incoming, deliveryBody, { tenant: '', hold() {} })
}

function refusalOf(error: unknown, log: Log): Answer {
  const requestId = newId('request')
  if (!(error instanceof PlatformError))
    log.error('a request failed', { request_id: requestId, error })
  const { status, headers, body } = errorAnswer(error, { dialect: 'interface', requestId })
  return { status, headers: { ...headers, 'request-id': requestId }, text: JSON.stringify(body) }
}

function write(incoming: IncomingMessage, outgoing: ServerResponse, answer: Answer): void {
  const { status, text } = answer
  const headers = { 'content-type': 'application/json', ...answer.headers }
  if (isBodyPending(incoming)) answerEarly({ incoming, outgoing }, { status, headers, text })
  else outgoing.writeHead(status, headers).end(text)
}
