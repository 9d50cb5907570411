/** A service that holds every secret, an agent that searches for them, and a crash. */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { programPath } from '@steward/base/program-fixture.ts'
import { mcpClient } from '@steward/harness/tools/mcp/mcp-fixture.ts'
import { z } from 'zod'
import { callTool, until } from '../mcp.ts'
import { logIn, refreshed } from '../oauth.ts'
import { accept, firstLink } from '../people.ts'
import { until as untilSo } from '../until.ts'
import { startServer } from '../process.ts'
import { untilIdle } from '../reader.ts'
import type { ServiceClients } from '../service.ts'
import { clientsOf } from '../service.ts'
import { signedHeaders } from '@steward/server/tenants/webhooks/sign.ts'
import { message } from '../turns.ts'
import type { Canary } from './canary.ts'
import { canaryOf } from './canary.ts'
import type { SecretSetup } from './secrets-setup.ts'
import { setUpSecrets, issueKey } from './secrets-setup.ts'
import { afterwards, ask, hang, hold, inspect, useTools } from './script.ts'
import type { CanaryContents, CanarySecrets } from './secrets.ts'
import { settingsOf } from './secrets.ts'
import type { Readouts } from './readouts.ts'
import { readEverything, createReadouts } from './readouts.ts'
import type { EchoingUpstream } from './upstream.ts'

const program = programPath(import.meta.resolve('./program.ts'))

export type PlayedScene = Readouts & {
  /** The secrets of the scene and the keys that the service issued. */
  canaries: Canary[]
  /** Paths that the end of the scene reads. */
  read: string[]
}

export type CanaryScene = {
  folder: string
  upstream: EchoingUpstream
  secrets: CanarySecrets
  control: Canary
  contents: CanaryContents
  /** `DATABASE_URL` and `STORE_BACKENDS`, when they differ from the defaults. */
  sources: Record<string, string>
}

type CanaryStage = CanaryScene & {
  clients: () => ServiceClients
  all: Readouts
  canaries: Canary[]
}

/** Runs the scene and kills the server at its end. All data lies below the folder, except data in Postgres. */
export async function playScene(scene: CanaryScene): Promise<PlayedScene> {
  const env = await environmentOf(scene)
  let server = await startServer(env, program)
  const { adminKey } = scene.secrets
  let clients = clientsOf(server.base, adminKey.secret)
  const all = createReadouts(() => clients, adminKey.secret)
  const canaries: Canary[] = [...Object.values(scene.secrets)]
  const stage: CanaryStage = { ...scene, clients: () => clients, all, canaries }
  try {
    const key = await issueKey(all, canaries, 'an API key', '/v1/ext/api_keys', { name: 'second' })
    clients = clientsOf(server.base, key)
    const hook = { url: 'https://hooks.api.example/in', enabled_events: ['*'] }
    const hooks = '/v1/ext/webhook_endpoints'
    await issueKey(all, canaries, 'a webhook secret', hooks, hook)
    const given = await setUpSecrets(all, { ...scene, port: scene.upstream.port })
    await logInPerson(stage, server.said())
    await trigger(stage, given)
    await deliver(stage, given)
    await dream(stage, given)
    await act(stage, given)
    await provoke(stage, given)
    await leaveHanging(stage, given)
    await server.kill()
    all.note('the log', server.said())
    server = await startServer(env, program)
    clients = clientsOf(server.base, key)
    await untilIdle(clients, given.session, turns.length + 1)
    await untilIdle(clients, given.other, 3)
    await say(stage, given.session, turns.length + 2, afterwards)
    return { ...all, canaries, read: await readEverything(all) }
  } catch (cause) {
    const last = server.said().slice(-4000)
    throw new Error(`the play broke off; the server said:\n${last}`, { cause })
  } finally {
    await server.kill()
    await all.settled()
    all.note('the log', server.said())
  }
}

async function environmentOf({ folder, upstream, secrets, sources }: CanaryScene) {
  const certificate = join(folder, 'upstream.pem')
  await writeFile(certificate, upstream.certificate)
  return {
    DATA_DIR: folder,
    TMPDIR: folder,
    HOME: folder,
    CHECKPOINTS: 'idle',
    EGRESS_ALLOW_PRIVATE: '127.0.0.0/8,::1',
    EGRESS_TENANT_TARGETS: '127.0.0.0/8:*,[::1]:*',
    NODE_EXTRA_CA_CERTS: certificate,
    OUTSIDE_PORT: String(upstream.port),
    ...settingsOf(secrets, upstream.port),
    ...sources,
  }
}

/** A client of a person logs in, and renews its tokens. */
async function logInPerson({ all, canaries, clients }: CanaryStage, logged: string): Promise<void> {
  const service = clients()
  const person = await accept(service, firstLink({ logged: [logged] }), { email: 'a@b.example' })
  const { body } = await all.ask('GET', '/v1/organizations/me')
  const first = await logIn(service.base, person, body.id)
  const { body: next } = await refreshed(service.base, first.refresh_token)
  canaries.push(canaryOf('the code of a login', first.code))
  for (const { access_token, refresh_token } of [first, next])
    canaries.push(
      canaryOf('an access token', access_token),
      canaryOf('a refresh token', refresh_token),
    )
  const headers = { 'x-api-key': '', authorization: `Bearer ${next.access_token}` }
  assert.equal((await service.ask('GET', '/v1/ext/me', undefined, headers)).status, 200)
}

const streamOf = (session: string) => `/v1/sessions/${session}/events/stream?include=chunks`

async function post({ all }: CanaryStage, session: string, text: string): Promise<void> {
  const path = `/v1/sessions/${session}/events`
  const { status } = await all.ask('POST', path, { events: [message(text)] })
  assert.ok(status < 300)
}

/** Posts a message and waits for the end of the `count`th turn. */
async function say(
  stage: CanaryStage,
  session: string,
  count: number,
  text: string,
): Promise<void> {
  await post(stage, session, text)
  await untilIdle(stage.clients(), session, count)
}

/** Triggers a deployment by a signed request, whose content is stored in the session of the run. */
async function trigger(
  { all, canaries, clients, contents }: CanaryStage,
  { deployment }: SecretSetup,
) {
  const path = `/v1/ext/deployments/${deployment}/trigger`
  const secret = await issueKey(all, canaries, 'the secret of a trigger', `${path}_secret`, {})
  const { data } = (await clients().ask('GET', '/v1/organizations/workspaces')).body
  const body = contents.delivery.secret
  const headers = signedHeaders({ id: 'msg_1', body }, [secret], Date.now())
  const url = `${clients().base}${path}?workspace=${data[0]?.id}`
  const answer = await fetch(url, { method: 'POST', headers, body })
  all.note('the answer to a signed request', await answer.text())
  assert.equal(answer.status, 200)
}

/** Sends a delivery of an integration, whose content is stored in the session of its thread. */
async function deliver(
  { all, canaries, clients, contents }: CanaryStage,
  { deployment }: SecretSetup,
) {
  const { body: deployed } = await all.ask('GET', `/v1/deployments/${deployment}`)
  const { id: agent } = z.object({ id: z.string() }).parse(deployed['agent'])
  const path = '/v1/ext/integrations/webhook/publications'
  const secret = await issueKey(all, canaries, 'the secret of a publication', path, {
    ...{ agent, environment_id: deployed['environment_id'] },
    webhook: { mapping: { scope: '/a', author: '/b', text: '/c' }, authors: ['ada'] },
  })
  const { body: listed } = await all.ask('GET', path)
  const body = JSON.stringify({ a: '1', b: 'ada', c: contents.delivery.secret })
  const headers = signedHeaders({ id: 'msg_1', body }, [secret], Date.now())
  const url = String(listed.data[0]?.['delivery_url'])
  const answer = await fetch(url, { method: 'POST', headers, body })
  all.note('the answer to a delivery', await answer.text())
  assert.equal(answer.status, 200)
  const deliveries = `${path}/${listed.data[0]?.id}/deliveries`
  await untilSo(async () => {
    const { data } = (await clients().ask('GET', deliveries)).body
    return data[0]?.['state'] === 'delivered'
  })
  await all.ask('GET', deliveries)
}

async function dream({ all, contents }: CanaryStage, { other }: SecretSetup): Promise<void> {
  const { body: store } = await all.ask('POST', '/v1/memory_stores', { name: 'dreamt' })
  const inputs = [
    { type: 'memory_store', memory_store_id: store.id },
    { type: 'sessions', session_ids: [other] },
  ]
  const instructions = `say: ${contents.instructions.secret}`
  const made = await all.ask('POST', '/v1/dreams', { inputs, model: 'offline', instructions })
  assert.ok(made.status < 300, JSON.stringify(made.body))
}

const turns = [inspect, ask, useTools]

async function act(stage: CanaryStage, { session, other, failing }: SecretSetup): Promise<void> {
  const { all, control, contents } = stage
  for (const each of [session, other, ...failing]) await all.listen(streamOf(each))
  const visible = [
    callTool('mcp__told__whoami'),
    `write control.txt: ${control.secret}`,
    `run: curl -sS https://${control.secret}.api.example/plain`,
    `run: cat /mnt/memory/notes/note ~/.skills/notes/SKILL.md`,
    `run: echo ${contents.written.secret} >> /mnt/memory/notes/note`,
    `run: echo ${contents.output.secret} > /mnt/session/outputs/visible.txt`,
    `say: ${control.secret}`,
  ]
  await say(stage, other, 1, visible.join('\n'))
  const messages = [{ role: 'user', content: `say: ${contents.message.secret}` }]
  const said = await all.ask('POST', '/v1/messages', { model: 'offline', max_tokens: 99, messages })
  assert.equal(said.status, 200, JSON.stringify(said.body))
  const criteria = [{ criterion: 'it is done', met: true }]
  const verdict = { result: 'satisfied', explanation: contents.verdict.secret, criteria }
  const rubric = [contents.rubric.secret, 'say: done', callTool('submit_verdict', verdict)].join(
    '\n',
  )
  const outcome = { description: 'say: done', rubric: { type: 'text', content: rubric } }
  const defined = await all.ask('POST', `/v1/sessions/${other}/events`, {
    events: [{ type: 'user.define_outcome', ...outcome }],
  })
  assert.ok(defined.status < 300)
  await untilIdle(stage.clients(), other, 2)
  for (const each of failing) await say(stage, each, 1, 'run: env')
  for (const [n, text] of turns.entries()) await say(stage, session, n + 1, text)
}

/** Sends requests of callers who try to read more than they may. */
async function provoke(
  stage: CanaryStage,
  { session, vault, environment }: SecretSetup,
): Promise<void> {
  const { all, canaries, secrets, clients } = stage
  const proxy = `/v1/ext/mcp-proxy/${session}`
  const token = await issueKey(all, canaries, 'a token of the MCP proxy', `${proxy}/told/token`, {})
  const child = await mcpClient(`${clients().base}${proxy}/told`, token)
  for (const name of ['whoami', 'fail', 'throw', 'break']) {
    const said = await child.callTool({ name, arguments: {} }).catch(String)
    all.note('what a local child is told', JSON.stringify(said))
  }
  await child[Symbol.asyncDispose]()
  const keys = '/v1/ext/api_keys'
  await issueKey(all, canaries, 'an environment key', keys, {
    name: 'e',
    environment_id: environment,
  })
  const credentials = `/v1/vaults/${vault}/credentials`
  const { body } = await all.ask('GET', credentials)
  for (const { id } of body.data) {
    await all.ask('POST', `${credentials}/${id}/mcp_oauth_validate`)
  }
  const { secret } = secrets.refused
  const bearer = { type: 'static_bearer', mcp_server_url: 'https://new.example' }
  for (const wrong of [
    `{"auth": {"token": ${JSON.stringify(secret)}`,
    { auth: { ...bearer, token: secret, more: secret } },
    { auth: { ...bearer, token: `${secret}\n` } },
    { auth: { ...bearer, type: secret, token: secret } },
    { auth: { ...bearer, mcp_server_url: `https://x:${secret}@new.example`, token: 'x' } },
  ]) {
    assert.ok((await all.ask('POST', credentials, wrong)).status >= 400)
  }
}

/**
 * Leaves two sessions running: one waits for an upstream that has its credential, the other runs a command with its
 * secret.
 */
async function leaveHanging(stage: CanaryStage, { session, other }: SecretSetup): Promise<void> {
  const { upstream, clients } = stage
  const before = upstream.hanging()
  await post(stage, session, hang)
  await post(stage, other, hold)
  await until(() => upstream.hanging() > before)
  assert.ok(upstream.hanging() > before)
  const isHeld = async () => {
    const { body } = await clients().ask('GET', `/v1/sessions/${other}/log`)
    return JSON.stringify(body).includes('setTimeout(Object')
  }
  while (!(await isHeld())) await new Promise((resolve) => setTimeout(resolve, 20))
}
