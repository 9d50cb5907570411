/** The metrics that an operator's Prometheus reads from a server, and the data that they must never contain. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe } from 'node:test'
import { z } from 'zod'
import type { ServerProcess } from './process.ts'
import { startServer } from './process.ts'
import type { ServiceClients } from './service.ts'
import { clientsOf } from './service.ts'
import { newSession, turn } from './turns.ts'
import { until } from './until.ts'
import { verifies } from './verifies.ts'

/** The samples of one metric, by their labels as they are written. */
function samplesOf(text: string, name: string): Map<string, number> {
  const lines = text.matchAll(new RegExp(`^${name}(?:\\{(.*)\\})? (\\S+)$`, 'gm'))
  return new Map([...lines].map(([, labels = '', value]) => [labels, Number(value)]))
}

describe('metrics', () => {
  let folder: string
  let server: ServerProcess
  let service: ServiceClients
  let url: string
  let session: string
  const scrape = async () => (await fetch(url)).text()

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'steward-metrics-'))
    server = await startServer({
      DATA_DIR: folder,
      METRICS_PORT: '0',
      RATE_LIMITS: 'uploads:1/d',
      STEWARD_LOG_LEVEL: 'debug',
    })
    url = /"message":"metrics","at":"([^"]+)"/.exec(server.said())?.[1] ?? assert.fail()
    service = clientsOf(server.base)
    session = await newSession(service, { tools: [{ type: 'agent_toolset_20260401' }] })
    await turn(service, session, 'run: true\nsay: hello')
    await service.ask('GET', '/v1/agents/none')
    for (const name of ['first', 'second']) await upload(name)
    await service.ask('GET', `/v1/${session}`)
  })
  const upload = (name: string) =>
    service.client.beta.files.upload({ file: new File([name], name) }).catch(() => undefined)
  after(async () => {
    await server.kill()
    await rm(folder, { recursive: true, force: true })
  })

  verifies(
    'http/metrics',
    'count requests, turns, model requests, tool calls and writes',
    async () => {
      await until(async () => samplesOf(await scrape(), 'steward_turns_total').size > 0)
      const text = await scrape()
      const value = (name: string, labels = '') => samplesOf(text, name).get(labels)
      assert.equal(value('steward_turns_total', 'stop_reason="end_turn"'), 1)
      assert.equal(value('steward_turn_duration_seconds_count'), 1)
      const model = 'provider="offline",model="offline",outcome="answered"'
      assert.equal(value('steward_model_requests_total', model), 2)
      assert.ok(Number(value('steward_model_tokens_total', 'direction="output"')) > 0)
      assert.equal(value('steward_tool_calls_total', 'tool="bash",outcome="ok"'), 1)
      assert.ok(Number(value('steward_rate_limited_total', 'class="uploads"')) >= 1)
      assert.equal(value('steward_places_held', 'kind="sandboxes"'), 1)
      assert.ok(Number(value('steward_db_write_seconds_count')) > 3)
      const made = 'route="/v1/sessions",method="POST",status="200"'
      assert.equal(value('steward_http_requests_total', made), 1)
      const missing = 'route="/v1/agents/:id",method="GET",status="404"'
      assert.equal(value('steward_http_requests_total', missing), 1)
      const nowhere = 'route="none",method="GET",status="404"'
      assert.equal(value('steward_http_requests_total', nowhere), 1)
      const job = 'job="remove expired sign-ins"'
      assert.ok(Number(value('steward_job_runs_total', `${job},outcome="ok"`)) >= 1)
      const sinceMs =
        Date.now() - Number(value('steward_job_last_run_timestamp_seconds', job)) * 1_000
      assert.ok(sinceMs >= 0 && sinceMs < 600_000, `${sinceMs} ms`)
      assert.ok(Number(value('process_resident_memory_bytes')) > 0)
    },
  )

  verifies('http/metrics/labels', 'name no session, no workspace and no secret', async () => {
    const text = await scrape()
    for (const private_ of [session, 'wrkspc_', 'apikey_', String(service.client.apiKey)])
      assert.ok(!text.includes(private_), private_)
  })

  verifies('http/metrics', 'are in the form that Prometheus asks for', async () => {
    try {
      execFileSync('promtool', ['check', 'metrics'], { input: await scrape(), encoding: 'utf8' })
    } catch (error) {
      const { code, stdout, stderr } = error as { code?: string; stdout?: string; stderr?: string }
      assert.notEqual(code, 'ENOENT', 'promtool is missing: apt-get install prometheus')
      assert.fail(`${stdout}${stderr}`)
    }
  })

  verifies(
    'http/metrics',
    'answer on their own port alone, and nothing else answers there',
    async () => {
      const elsewhere = await fetch(`${server.base}/metrics`, {
        headers: { 'x-api-key': String(service.client.apiKey) },
      })
      assert.equal(elsewhere.status, 404)
      const other = await fetch(new URL('/v1/agents', url))
      assert.equal(other.status, 404)
      assert.equal((await fetch(url, { method: 'POST' })).status, 405)
    },
  )

  verifies('http/metrics', 'are all named by the dashboard, and it names no other', async () => {
    const file = new URL('../docs/dashboard.json', import.meta.url)
    const Dashboard = z.object({
      panels: z.array(z.object({ targets: z.array(z.object({ expr: z.string() })) })),
    })
    const { panels } = Dashboard.parse(JSON.parse(await readFile(file, 'utf8')))
    const named = new Set(
      panels.flatMap(({ targets }) =>
        targets.flatMap(({ expr }) => expr.match(/\b(?:steward|process|nodejs)_\w+/g) ?? []),
      ),
    )
    const text = await scrape()
    const families = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)]
    const known = new Set(
      families.flatMap(([, name = '', type]) =>
        type === 'histogram' ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
      ),
    )
    assert.deepEqual(
      [...named].filter((name) => !known.has(name)),
      [],
    )
    const unseen = families.filter(
      ([, name = '']) =>
        name.startsWith('steward_') && ![...named].some((each) => each.startsWith(name)),
    )
    assert.deepEqual(
      unseen.map(([, name]) => name),
      [],
    )
  })

  verifies('http/metrics', 'come with a line of the log for each request', () => {
    const line = server
      .said()
      .split('\n')
      .find((each) => each.includes('"route":"/v1/agents/:id"'))
    assert.ok(line, 'a line for the request')
    const { level, method, status, workspace_id } = JSON.parse(line) as Record<string, unknown>
    assert.deepEqual([level, method, status], ['debug', 'GET', 404])
    assert.match(String(workspace_id), /^wrkspc_/)
  })
})
