/** The spans that a collector of OpenTelemetry receives, and the data that it must never receive. */
import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { anthropicDialect } from '@steward/model/stubs/stub-anthropic.ts'
import type { StubModel, StubBlock } from '@steward/model/stubs/stub-server.ts'
import { startStub } from '@steward/model/stubs/stub-server.ts'
import type { SentSpan } from './collector.ts'
import { startCollector } from './collector.ts'
import type { McpHosts } from './mcp.ts'
import { declareServer, mcpHosts } from './mcp.ts'
import type { TestService } from './service.ts'
import { boot } from './service.ts'
import { fresh, message, newSession, turn } from './turns.ts'
import { until } from './until.ts'
import { verifies } from './verifies.ts'

/** Sets the variables that the OpenTelemetry library reads itself. */
function withVariables(variables: Record<string, string>): () => void {
  Object.assign(process.env, variables)
  return () => {
    for (const name of Object.keys(variables)) delete process.env[name]
  }
}

const caller = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) }
const traceparent = `00-${caller.traceId}-${caller.spanId}-01`
const secret = 'the secret word'

describe('traces', () => {
  let collector: Awaited<ReturnType<typeof startCollector>>
  let service: TestService
  let model: StubModel
  let hosts: McpHosts
  let session: string
  let restore: () => void
  const asked: (string | null)[] = []

  before(async () => {
    collector = await startCollector()
    model = await startStub(anthropicDialect)
    hosts = await mcpHosts()
    const server = hosts.mcp('api.example')
    hosts.set('api.example', (request) => {
      asked.push(request.headers.get('traceparent'))
      return server.answer(request)
    })
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }
    restore = withVariables({
      ...env,
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    })
    service = await boot('sqlite', { env, overrides: { nameOverride: hosts.outside } })
    await service.ask('POST', '/v1/ext/model_cards', {
      ...{ model_id: 'traced', provider: 'ant-compatible', model: 'stub-1' },
      ...{ base_url: model.url, api_key: 'none-needed' },
    })
    session = await newSession(service, {
      model: { id: 'traced' },
      name: fresh('traced agent'),
      tools: [{ type: 'agent_toolset_20260401' }, { type: 'mcp_toolset', mcp_server_name: 'up' }],
      mcp_servers: [declareServer('api.example', 'up')],
    })
    const call = (id: string, command: string): StubBlock => ({
      type: 'tool_call',
      id,
      name: 'bash',
      pieces: [JSON.stringify({ command })],
    })
    model.replies(
      {
        blocks: [call('toolu_1', `echo ${secret}`), call('toolu_2', 'false')],
        stop: 'tool_use',
        usage: { input: 7, output: 3, cacheRead: 2 },
      },
      { blocks: [{ type: 'text', pieces: [secret] }], stop: 'end_turn' },
    )
    // Forgets the request that tested the model card.
    model.requests.length = 0
    const posted = await service.ask(
      'POST',
      `/v1/sessions/${session}/events`,
      { events: [message(secret)] },
      { traceparent },
    )
    assert.equal(posted.status, 202)
    await until(() => model.requests.length === 2)
    await turnIsOver()
    await service.close()
    restore()
  })
  after(async () => {
    collector.close()
    await hosts[Symbol.asyncDispose]()
    await model[Symbol.asyncDispose]()
  })

  const turnIsOver = () =>
    until(async () => {
      const { body } = await service.ask('GET', `/v1/sessions/${session}`)
      return body.status === 'idle'
    })

  const named = (name: RegExp) => collector.spans.filter((span) => name.test(span.name))
  const one = (name: RegExp): SentSpan => {
    const [span, ...others] = named(name)
    assert.ok(span && others.length === 0, `${name}: ${others.length + 1}`)
    return span
  }

  verifies(
    'http/traces',
    'a turn with two tool calls is a tree below the request that caused it',
    () => {
      const request = one(/^POST \/v1\/sessions\/:id\/events$/)
      assert.deepEqual([request.traceId, request.parentSpanId], [caller.traceId, caller.spanId])
      assert.equal(request.attributes['http.response.status_code'], 202)
      const run = one(/^invoke_agent traced agent/)
      assert.deepEqual([run.traceId, run.parentSpanId], [caller.traceId, request.spanId])
      assert.equal(run.attributes['gen_ai.conversation.id'], session)
      assert.equal(run.attributes['steward.turn.stop_reason'], 'end_turn')
      const chats = named(/^chat stub-1$/)
      const tools = named(/^execute_tool bash$/)
      assert.deepEqual([chats.length, tools.length], [2, 2])
      for (const child of [...chats, ...tools]) {
        assert.deepEqual([child.traceId, child.parentSpanId], [caller.traceId, run.spanId])
        assert.ok(child.startTimeUnixNano >= run.startTimeUnixNano - 5_000_000n)
        assert.ok(child.endTimeUnixNano >= child.startTimeUnixNano)
      }
      assert.equal(chats[0]?.attributes['gen_ai.usage.input_tokens'], 9)
      assert.equal(chats[0]?.attributes['gen_ai.usage.cache_read.input_tokens'], 2)
      assert.deepEqual(
        tools.map(({ status }) => status.code).toSorted((a, b) => a - b),
        [0, 2],
      )
    },
  )

  verifies('http/traces', 'the variables of OpenTelemetry name the service', () => {
    const [resource = {}] = collector.resources
    assert.equal(resource['service.name'], 'steward')
    assert.equal(resource['deployment.environment.name'], 'test')
  })

  verifies('http/traces/passed-on', 'models and MCP servers receive the trace of the turn', () => {
    const { traceId, spanId } = one(/^invoke_agent/)
    const told = `00-${traceId}-${spanId}-01`
    assert.deepEqual(
      model.requests.map(({ headers }) => headers['traceparent']),
      [told, told],
    )
    // Requests that close the connection to an MCP server come after the turn and have no trace header.
    assert.deepEqual([...new Set(asked.filter((each) => each !== null))], [told])
  })

  verifies('http/traces/apart', 'no span holds what was said or done, nor a key', () => {
    const all = collector.bodies.join()
    for (const hidden of [secret, 'echo', String(service.client.apiKey), 'none-needed'])
      assert.ok(!all.includes(hidden), hidden)
  })

  verifies('http/traces/apart', 'a collector that is away delays nothing', async () => {
    const away = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' }
    const undo = withVariables({ ...away, OTEL_EXPORTER_OTLP_TIMEOUT: '500' })
    const alone = await boot('sqlite', { env: away })
    try {
      const id = await newSession(alone)
      const seen = await turn(alone, id, 'say: hello')
      assert.ok(seen.some(({ type }) => type === 'agent.message'))
    } finally {
      await alone.close()
      undo()
    }
    assert.ok(alone.logged.some((line) => line.includes('traces could not be sent')))
  })
})
