import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { makeAgent, makeEnvironment, makeSession } from './console/workspace.ts'
import type { ServerProcess } from './process.ts'
import { startServer } from './process.ts'
import type { StreamReader } from './reader.ts'
import { openStream } from './reader.ts'
import type { ServiceClients } from './service.ts'
import { clientsOf } from './service.ts'
import { until } from './until.ts'

const count = 1_000
const path = '/v1/ext/stream'
/** How many connections are made at once. */
const together = 50

void describe('a thousand streams of a workspace', () => {
  let folder: string
  let server: ServerProcess
  let service: ServiceClients
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'steward-streams-'))
    server = await startServer({ DATA_DIR: folder, SANDBOX_DIR: join(folder, 'sandboxes') })
    service = clientsOf(server.base)
  })
  after(async () => {
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  })

  const openAll = async (): Promise<StreamReader[]> => {
    const streams: StreamReader[] = []
    while (streams.length < count)
      streams.push(
        ...(await Promise.all(Array.from({ length: together }, () => openStream(service, path)))),
      )
    return streams
  }
  const heldStreams = async (): Promise<unknown> => {
    const { body } = await service.ask('GET', '/v1/ext/quotas')
    return body.data.find(({ name }) => name === 'streams')?.['used']
  }

  void it('all report a change, and nothing remains of them when their readers disconnect', async () => {
    const agent = await makeAgent(service, 'coder')
    const environment = await makeEnvironment(service)
    assert.equal(await heldStreams(), 0)
    const streams = await openAll()
    assert.equal(await heldStreams(), count)
    const session = await makeSession(service, { agent, environment, title: 'for all' })
    const ids: string[] = []
    for (const stream of streams) {
      const seen = await stream.until(({ type, id }) => type === 'stream.changed' && id === session)
      ids.push(String(seen[0]?.data.id))
    }
    assert.equal(new Set(ids).size, count)
    await Promise.all(streams.map((stream) => stream[Symbol.asyncDispose]()))
    await until(async () => (await heldStreams()) === 0, heldStreams)
    for (const id of ids) {
      const { status } = await service.ask('POST', `${path}/${id}`, { workspace: true })
      assert.equal(status, 404, `${id} is still there`)
    }
    await using again = await openStream(service, path)
    const other = await makeSession(service, { agent, environment, title: 'for one' })
    await again.until(({ type, id }) => type === 'stream.changed' && id === other)
    assert.equal(await heldStreams(), 1)
  })
})
