/** The audit reaches a receiver outside whole and in order, whatever becomes of the receiver and of the server. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe } from 'node:test'
import { newPostgresUrl } from '@steward/server/ground/database/fixture.ts'
import { startServer } from './process.ts'
import type { ServiceClients } from './service.ts'
import { boot, clientsOf, scenarioDatabases } from './service.ts'
import { startSyslogServer } from './syslog-server.ts'
import { fresh } from './turns.ts'
import { until } from './until.ts'
import { verifies } from './verifies.ts'

type Line = {
  id: string
  tenant_id: string
  trail: string
  seq: number
  previous: string
  hash: string
  action: string
}

/** The lines of each chain in the order of their first coming. Asserts that none is missing or changed. */
function wholeChains(texts: readonly string[]): Map<string, Line[]> {
  const chains = new Map<string, Line[]>()
  for (const each of texts) {
    const line = JSON.parse(each) as Line
    const { hash, ...covered } = line
    const name = `${line.tenant_id}/${line.trail}`
    const chain = chains.get(name) ?? []
    chains.set(name, chain)
    if (line.seq <= chain.length) continue
    assert.equal(line.seq, chain.length + 1, `a line of ${name} is missing or came early`)
    assert.equal(line.previous, chain.at(-1)?.hash ?? line.previous)
    assert.equal(createHash('sha256').update(JSON.stringify(covered)).digest('hex'), hash)
    chain.push(line)
  }
  return chains
}

const countOf = (texts: readonly string[], action: string): number =>
  [...wholeChains(texts).values()].flat().filter((line) => line.action === action).length

async function createAgents(service: ServiceClients, count: number): Promise<void> {
  for (let n = 0; n < count; n++)
    await service.client.beta.agents.create({ name: fresh('agent'), model: 'offline' })
}

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`the stream of the audit on ${database}`, () => {
    let folder: string
    let syslog: Awaited<ReturnType<typeof startSyslogServer>>
    let env: Record<string, string>
    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'steward-stream-'))
      const authority = join(folder, 'authority.pem')
      syslog = await startSyslogServer(authority)
      env = {
        DATA_DIR: join(folder, 'data'),
        AUDIT_STREAM: syslog.address,
        EGRESS_ALLOW_PRIVATE: '127.0.0.0/8,::1',
        NODE_EXTRA_CA_CERTS: authority,
        ...(database === 'postgres' ? { DATABASE_URL: await newPostgresUrl() } : {}),
      }
    })
    after(async () => {
      syslog.close()
      await rm(folder, { recursive: true, force: true })
    })
    const received = () => syslog.messages.map((message) => message.text)

    verifies(
      ['audit/stream', 'audit/stream/kept'],
      'is whole after a receiver that refuses, breaks off, is slow, and a server that is killed',
      async () => {
        await using first = await startServer(env)
        syslog.conduct('refuse', 'break', 'slow')
        await createAgents(clientsOf(first.base), 5)
        await until(() => countOf(received(), 'agent.create') === 5)
        assert.ok(syslog.connections() >= 3)
        const [message] = syslog.messages
        assert.match(message?.header ?? '', /^<110>1 \d{4}-\d\d-\d\dT\S+Z \S+ steward \d+ \w+ - $/)
        const known = syslog.connections()
        syslog.conduct('hang')
        await createAgents(clientsOf(first.base), 3)
        await until(() => syslog.connections() > known)
        await first.kill()
        await using second = await startServer(env)
        await createAgents(clientsOf(second.base), 2)
        await until(() => countOf(received(), 'agent.create') === 10)
        assert.ok(!received().join('').includes('conformance-admin-key'))
      },
    )
  })
}

describe('the stream of the audit to a collector', () => {
  verifies('audit/stream', 'comes as records of the log, again where it was refused', async () => {
    const texts: string[] = []
    let refusals = 2
    const collector = createServer((request, response) => {
      void text(request).then((body) => {
        if (refusals-- > 0) return void response.writeHead(400).end()
        const sent = JSON.parse(body) as {
          resourceLogs: { scopeLogs: { logRecords: { body: { stringValue: string } }[] }[] }[]
        }
        const records = sent.resourceLogs.flatMap(({ scopeLogs }) =>
          scopeLogs.flatMap(({ logRecords }) => logRecords),
        )
        texts.push(...records.map((record) => record.body.stringValue))
        response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
      })
    }).listen(0, '127.0.0.1')
    await once(collector, 'listening')
    const { port } = collector.address() as AddressInfo
    const service = await boot('sqlite', {
      env: {
        AUDIT_STREAM: 'otlp',
        OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
        OTEL_TRACES_EXPORTER: 'none',
      },
    })
    try {
      await createAgents(service, 3)
      await until(() => countOf(texts, 'agent.create') === 3)
      assert.ok(service.logged.some((line) => line.includes('the audit could not be sent')))
    } finally {
      await service.close()
      collector.closeAllConnections()
      collector.close()
    }
  })
})
