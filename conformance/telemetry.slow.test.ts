/** Metrics and logs that a collector of OpenTelemetry receives, and one that does not take them. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe } from 'node:test'
import { logWritten } from '@steward/base/log.ts'
import type { TestService } from './service.ts'
import { boot } from './service.ts'
import { newSession, turn } from './turns.ts'
import { until } from './until.ts'
import { verifies } from './verifies.ts'

type Received = { path: string; headers: IncomingMessage['headers']; body: string }

async function startReceiver(answer: (response: ServerResponse) => void) {
  const received: Received[] = []
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      received.push({ path: request.url ?? '', headers: request.headers, body })
      answer(response)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    bodies: (path: string) => received.filter((each) => each.path === path).map(({ body }) => body),
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

const takes = (response: ServerResponse) =>
  void response.writeHead(200, { 'content-type': 'application/json' }).end('{}')

const settings = (url: string) => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: url,
  OTEL_EXPORTER_OTLP_HEADERS: 'x-collector-key=a%20secret%20of%20the%20collector',
  OTEL_METRICS_EXPORTER: 'otlp',
  OTEL_LOGS_EXPORTER: 'otlp',
  OTEL_TRACES_EXPORTER: 'none',
  OTEL_METRIC_EXPORT_INTERVAL: '200',
  STEWARD_LOG_LEVEL: 'debug',
  METRICS_PORT: '0',
})

const secret = 'the secret word of the conversation'

async function talk(service: TestService): Promise<void> {
  const session = await newSession(service)
  await turn(service, session, `say: ${secret}`)
  await service.ask('GET', '/v1/agents/none')
}

describe('telemetry', () => {
  verifies(
    ['http/metrics/otlp', 'http/logs'],
    'sends the metrics that Prometheus reads and the lines of the log, without contents',
    async () => {
      const collector = await startReceiver(takes)
      const service = await boot('sqlite', { env: settings(collector.url) })
      try {
        await talk(service)
        const at = service.logged.join('').match(/"message":"metrics","at":"([^"]+)"/)?.[1]
        const read = await (await fetch(at ?? assert.fail('no metrics'))).text()
        const names = [...read.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name)
        assert.ok(names.length > 20)
        const hasTurn = (body: string) =>
          body.includes('"steward_turns_total"') && /"stop_reason"/.test(body)
        await until(() => collector.bodies('/v1/metrics').some(hasTurn))
        const sent = collector.bodies('/v1/metrics').find(hasTurn) ?? ''
        for (const name of names) assert.ok(sent.includes(`"name":"${name}"`), name)
        assert.match(sent, /"explicitBounds":\[0\.001/)
        await until(() =>
          collector.bodies('/v1/logs').some((body) => body.includes('a request was answered')),
        )
        const logs = collector.bodies('/v1/logs').join('')
        assert.match(logs, /"severityText":"debug"/)
        assert.match(logs, /"service\.name","value":\{"stringValue":"steward"/)
        for (const { headers, path } of collector.received) {
          assert.equal(headers['x-collector-key'], 'a secret of the collector', path)
          assert.notEqual(path, '/v1/traces')
        }
        assert.ok(!(sent + logs).includes(secret))
        assert.ok(!service.logged.join('').includes('a secret of the collector'))
      } finally {
        await service.close()
        collector.close()
      }
    },
  )

  verifies(
    'http/otlp/apart',
    'a collector that refuses, or never answers, delays nothing, and what is dropped is counted',
    async () => {
      for (const answer of [
        (response: ServerResponse) => void response.writeHead(400).end(),
        () => {},
      ]) {
        const collector = await startReceiver(answer)
        const service = await boot('sqlite', { env: settings(collector.url) })
        try {
          await until(() => collector.received.length > 0)
          await talk(service)
          const before = process.memoryUsage().heapUsed
          const record = {
            time: new Date().toISOString(),
            level: 'info',
            message: 'noise',
          } as const
          for (let n = 0; n < 100_000; n++) logWritten.tell({ ...record, n })
          assert.ok(process.memoryUsage().heapUsed - before < 100 * 2 ** 20)
          const at = service.logged.join('').match(/"message":"metrics","at":"([^"]+)"/)?.[1]
          const read = await (await fetch(at ?? assert.fail('no metrics'))).text()
          const dropped =
            /steward_telemetry_records_total\{signal="logs",outcome="dropped"\} (\d+)/.exec(
              read,
            )?.[1]
          assert.ok(Number(dropped) > 90_000, read.match(/steward_telemetry.*/g)?.join('\n'))
          const told = service.logged.filter((line) => line.includes('logs could not be sent'))
          assert.ok(told.length >= 1 && told.length < 20, `${told.length} lines`)
        } finally {
          await service.close()
          collector.close()
        }
      }
    },
  )
})
