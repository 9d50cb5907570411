/** Runs in a network of its own: starts a server, makes its main journeys, and prints who was dialled. */
import { spawn } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { flagsOfNode, programPath } from '@steward/base/program-fixture.ts'
import { adminKey, clientsOf, rootSecret } from '../service.ts'
import type { ServiceClients } from '../service.ts'
import { fresh, newSession, turn } from '../turns.ts'
import { recordConnections, serverHost } from './recorder.ts'
import { openWorld } from './world.ts'

const [mode = 'usual'] = process.argv.slice(2)
const folder = mkdtempSync(join(tmpdir(), 'steward-connections-'))
const authority = join(folder, 'authority.pem')
const recorder = await recordConnections()
await openWorld(authority)

const usual = {
  PATH: process.env['PATH'],
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
  PORT: '8787',
  HOST: serverHost,
  DATA_DIR: join(folder, 'data'),
  PLATFORM_ROOT_SECRET: rootSecret,
  API_KEY: adminKey,
  STEWARD_OFFLINE_THINK_MS: '0',
}

const everything = {
  ...usual,
  NODE_EXTRA_CA_CERTS: authority,
  EGRESS_ALLOW_PRIVATE: '10.77.0.0/16',
  EGRESS_TENANT_TARGETS: '10.77.0.0/16:*',
  ANTHROPIC_API_KEY: 'sk-an-operators-key',
  WEB_SEARCH_API_KEY: 'tvly-a-key',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'https://otel.example',
  OTEL_METRICS_EXPORTER: 'otlp',
  OTEL_LOGS_EXPORTER: 'otlp',
  OTEL_METRIC_EXPORT_INTERVAL: '500',
  AUDIT_STREAM: 'syslog+tls://siem.example:6514',
  SMTP_URL: 'smtp://mail.example:2525',
  MAIL_FROM: 'steward@mail.example',
  PLATFORM_MANAGED_AGENTS_WEBHOOK_URL: 'https://hint.example/',
  PLATFORM_MANAGED_AGENTS_WEBHOOK_SIGNING_KEY: 'whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5',
  PUBLIC_URL: `http://${serverHost}:8787`,
  SIGN_IN_GOOGLE_CLIENT_ID: 'a-client',
  SIGN_IN_GOOGLE_CLIENT_SECRET: 'a-secret-of-a-client',
  INTEGRATIONS_PUBLIC_URL: 'https://steward.example',
  INTEGRATIONS_SLACK_CLIENT_ID: '1.2',
  INTEGRATIONS_SLACK_CLIENT_SECRET: 'a-secret-of-a-client',
  INTEGRATIONS_SLACK_SIGNING_SECRET: 'a-secret-that-signs-deliveries',
  INTEGRATIONS_SLACK_APP_TOKEN: 'xapp-1-token',
}

/** A module that the server loads first, and that dials a host of nobody. */
const strayModule = join(folder, 'stray.mjs')
writeFileSync(
  strayModule,
  `setTimeout(() => fetch('https://telemetry.vendor.example/').catch(() => {}), 500)`,
)

function startServer(env: Record<string, string | undefined>, ...flags: string[]) {
  const main = programPath(import.meta.resolve('@steward/server/main.ts'))
  const child = spawn(process.execPath, [...flags, ...flagsOfNode, main], {
    env,
    stdio: ['ignore', 'inherit', 'pipe'],
  })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (piece: string) => (said += piece))
  return {
    async listening(): Promise<ServiceClients> {
      while (!said.includes('"message":"listening"')) {
        if (child.exitCode !== null) throw new Error(`the server did not start: ${said}`)
        await delay(50)
      }
      return clientsOf(`http://${serverHost}:8787`)
    },
    said: () => said,
    end: () => void child.kill('SIGKILL'),
  }
}

const toolset = { type: 'agent_toolset_20260401' } as const

async function talkOffline(service: ServiceClients): Promise<void> {
  const session = await newSession(service, { tools: [toolset] })
  await turn(service, session, 'run: echo hello\nsay: hello')
}

/** A person comes back from an identity provider, which the server then asks who it is. */
async function comeBackFromProvider(service: ServiceClients): Promise<void> {
  const started = await fetch(`http://${serverHost}:8787/v1/ext/oauth/google/authorize`, {
    redirect: 'manual',
  })
  const state = new URL(started.headers.get('location') ?? '').searchParams.get('state') ?? ''
  const cookie = started.headers
    .getSetCookie()
    .map((each) => each.split(';')[0])
    .join('; ')
  await service.raw('GET', `/v1/ext/oauth/google/callback?code=a-code&state=${state}`, undefined, {
    cookie,
  })
}

/** One journey for each kind of connection. What a host answers does not matter: it was dialled. */
async function makeJourneys(service: ServiceClients): Promise<void> {
  const { beta } = service.client
  const ok = async (method: string, path: string, body: object) => {
    const answer = await service.ask(method, path, body)
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  await ok('POST', '/v1/ext/webhook_endpoints', {
    url: 'https://hooks.example/in',
    enabled_events: ['session.status_idled'],
  })
  const card = { provider: 'ant-compatible', model: 'm', base_url: 'https://models.example' }
  await ok('POST', '/v1/ext/model_cards', { ...card, model_id: 'card', api_key: 'a-key' })
  await turn(service, await newSession(service, { model: 'card' }), 'hello')
  await turn(service, await newSession(service, { model: 'claude-opus-4-5' }), 'hello')
  const tools = [toolset, { type: 'mcp_toolset', mcp_server_name: 'mcp' } as const]
  const mcp_servers = [{ type: 'url' as const, name: 'mcp', url: 'https://mcp.example/mcp' }]
  await turn(
    service,
    await newSession(service, { tools, mcp_servers }),
    'call web_search {"query": "x"}\ncall web_fetch {"url": "https://pages.example/"}\nrun: curl -sk -m 5 https://commands.example/ || true\nsay: done',
  )
  const environment = await beta.environments.create({
    name: fresh('with packages'),
    config: { type: 'cloud', packages: { type: 'packages', pip: ['tiny-pip'] } },
  })
  const agent = await beta.agents.create({
    name: fresh('agent'),
    model: 'offline',
    tools: [toolset],
  })
  const of = { agent: agent.id, environment_id: environment.id }
  const packaged = await beta.sessions.create(of)
  await turn(service, packaged.id, 'run: true')
  const plain = await beta.environments.create({ name: fresh('plain') })
  const cloned = await service.ask('POST', '/v1/sessions', {
    ...of,
    environment_id: plain.id,
    resources: [{ type: 'github_repository', url: 'https://github.com/acme/notes' }],
  })
  if (cloned.status < 300) await turn(service, cloned.body.id, 'run: true')
  const hosted = await beta.environments.create({
    name: fresh('hosted'),
    config: { type: 'self_hosted' },
  })
  const queued = await beta.sessions.create({ ...of, environment_id: hosted.id })
  await beta.sessions.events.send(queued.id, {
    events: [{ type: 'user.message', content: [{ type: 'text', text: 'hello' }] }],
  })
  await ok('POST', '/v1/organizations/invites', { email: 'someone@mail.example', role: 'user' })
  await comeBackFromProvider(service)
}

/** A server with a bucket stops at its start, as nobody answers there: by then it has dialled it. */
async function dialBucket(): Promise<void> {
  const blobs = {
    type: 's3',
    endpoint: 'https://bucket.example',
    bucket: 'files',
    region: 'here',
    access_key_id: 'key',
    secret_access_key: 'a-secret-of-the-bucket',
  }
  const server = startServer({ ...everything, STORE_BACKENDS: JSON.stringify({ blobs }) })
  const isDialled = () => recorder.dialled().some(({ name }) => name === 'bucket.example')
  for (let n = 0; n < 120 && !isDialled(); n++) await delay(250)
  server.end()
}

if (mode === 'everything') await dialBucket()
const server = startServer(
  mode === 'usual' ? usual : everything,
  ...(mode === 'stray' ? ['--import', strayModule] : []),
)
try {
  const service = await server.listening()
  await talkOffline(service)
  if (mode === 'everything') await makeJourneys(service)
  await delay(mode === 'everything' ? 10_000 : 3_000)
  process.stdout.write(`${JSON.stringify(recorder.dialled())}\n`)
} catch (error) {
  process.stderr.write(`${String(error)}\n${server.said()}\n`)
  process.exitCode = 1
} finally {
  server.end()
  process.exit()
}
