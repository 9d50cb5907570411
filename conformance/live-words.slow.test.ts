/** Three server processes on one Postgres show live words while connections and processes end. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import type { Server } from 'node:http'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import { openaiChatDialect } from '@steward/model/stubs/stub-openai-chat.ts'
import { freePort } from '@steward/server/ground/bus/direct/fixture.ts'
import { natsServer } from '@steward/server/ground/bus/nats/fixture.ts'
import { newPostgresUrl } from '@steward/server/ground/database/fixture.ts'
import type { PostgresProxy } from '@steward/server/ground/database/proxy-fixture.ts'
import { postgresProxy } from '@steward/server/ground/database/proxy-fixture.ts'
import type { ServerProcess } from './process.ts'
import { startServer } from './process.ts'
import type { StreamReader } from './reader.ts'
import { readStream } from './reader.ts'
import { adminKey } from './service.ts'
import type { SeenEvent } from './turns.ts'
import { all, fresh, message, textOf } from './turns.ts'
import { until } from './until.ts'
import { verifies } from './verifies.ts'

const wordMs = 15
/** The words of an answer: at least these, and at most half a minute of them while the test lets the model speak. */
const words = { least: 120, most: 2_000 }
const wordsOf = (count: number) => Array.from({ length: count }, (_, n) => `word${n} `)
const frames = openaiChatDialect.frames({
  ...{ blocks: [{ type: 'text', pieces: wordsOf(words.most) }], stop: 'end_turn' },
})
const isWord = (frame: string | undefined) => frame?.includes('word')

/** True: answers go on. On a busy machine, the words of a short answer may be over before a process reads them. */
let speaksOn = false

/** A model that answers each request with the same words, one frame at a time. */
async function startModel(): Promise<{ url: string; server: Server }> {
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    let left = [...frames]
    let said = 0
    const speaking = setInterval(() => {
      if (said >= words.least && !speaksOn) left = left.filter((frame) => !isWord(frame))
      const frame = left.shift()
      if (isWord(frame)) said++
      if (frame !== undefined) response.write(frame)
      else response.end()
    }, wordMs)
    response.on('close', () => clearInterval(speaking))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  assert.ok(typeof address === 'object' && address)
  return { url: `http://127.0.0.1:${address.port}`, server }
}

describe('three processes', () => {
  let env: Record<string, string>
  let folder: string
  let model: Server
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'steward-live-'))
    const { url, server } = await startModel()
    model = server
    env = {
      DATA_DIR: folder,
      SANDBOX_DIR: join(folder, 'sandboxes'),
      SANDBOX_PROVIDER: 'local',
      EGRESS_PROFILE: 'disabled',
      EGRESS_ALLOW_PRIVATE: '127.0.0.0/8',
      OPENAI_BASE_URL: url,
      OPENAI_API_KEY: 'a key',
      DATABASE_URL: await newPostgresUrl(),
    }
  })
  after(async () => {
    model.closeAllConnections()
    model.close()
    await rm(folder, { recursive: true, force: true })
  })

  const at = ({ base }: ServerProcess) =>
    new Anthropic({ baseURL: base, apiKey: adminKey, maxRetries: 0 }).beta

  async function sessionAt(server: ServerProcess): Promise<string> {
    const { id } = await at(server).agents.create({
      name: fresh('agent'),
      model: 'slow',
      tools: [],
    })
    const environment = await at(server).environments.create({ name: fresh('environment') })
    return (await at(server).sessions.create({ agent: id, environment_id: environment.id })).id
  }

  const send = (server: ServerProcess, session: string) =>
    at(server).sessions.events.send(session, { events: [message('go on')] })

  async function streamAt({ base }: ServerProcess, session: string): Promise<StreamReader> {
    const url = `${base}/v1/sessions/${session}/events/stream?replay=1&include=chunks`
    return readStream(await fetch(url, { headers: { 'x-api-key': adminKey } }))
  }

  const seenBy = ({ frames: seen }: StreamReader): SeenEvent[] => seen.map(({ data }) => data)

  const idles = (reader: StreamReader, many: number) =>
    reader.until(() => all(seenBy(reader), 'session.status_idle').length >= many)

  /** Begins an answer that goes on until all readers have shown parts of it. */
  function begin(server: ServerProcess, session: string) {
    speaksOn = true
    return send(server, session)
  }

  async function allHaveChunks(readers: readonly StreamReader[], many: number): Promise<void> {
    const hasChunks = (reader: StreamReader) =>
      reader.until(() => all(seenBy(reader), 'agent.message_chunk').length >= many)
    await Promise.all(readers.map(hasChunks))
    speaksOn = false
  }

  /** Each message with its pieces that were shown before it. Asserts that the message begins with these pieces. */
  function shownOf(reader: StreamReader): { whole: string; shown: string }[] {
    const seen = seenBy(reader)
    return all(seen, 'agent.message').map((each) => {
      const before = seen.slice(0, seen.indexOf(each))
      const chunks = all(before, 'agent.message_chunk')
      const own = chunks.filter(({ message_id }) => message_id === each.id)
      const shown = own.map(({ delta }) => String(delta)).join('')
      assert.ok(textOf(each).startsWith(shown), shown)
      return { whole: textOf(each), shown }
    })
  }

  function checkWhole(reader: StreamReader): void {
    const seqs = seenBy(reader).flatMap(({ seq }) => (typeof seq === 'number' ? [seq] : []))
    assert.deepEqual(
      seqs,
      seqs.map((_, index) => index + 1),
    )
  }

  const logged = (server: ServerProcess, text: string) =>
    until(
      () => server.said().includes(text),
      () => server.said(),
    )

  async function startBehindProxy(): Promise<{ server: ServerProcess; proxy: PostgresProxy }> {
    const port = String(await freePort())
    const proxy = await postgresProxy(`tcp://127.0.0.1:${port}`)
    const address = `127.0.0.1:${new URL(proxy.url).port}`
    const server = await startServer({ ...env, PEER_PORT: port, PEER_ADDRESS: address })
    return { server, proxy }
  }

  verifies(
    ['stream/any-process', 'stream/event-deltas/order'],
    'show the same beginning of an answer when their connections are cut in the middle, and later answers whole',
    async () => {
      const started = await Promise.all([1, 2, 3].map(startBehindProxy))
      const [one] = started
      assert.ok(one)
      const session = await sessionAt(one.server)
      const readers = await Promise.all(started.map(({ server }) => streamAt(server, session)))
      await begin(one.server, session)
      await allHaveChunks(readers, 10)
      for (const { proxy } of started) proxy.cut()
      await Promise.all(readers.map((reader) => idles(reader, 1)))
      // On a busy machine an answer may be over before all processes are connected again.
      let answers = 1
      const isWholeAt = (reader: StreamReader) => {
        const last = shownOf(reader).at(-1)
        return last?.shown === last?.whole
      }
      do {
        await send(one.server, session)
        answers++
        await Promise.all(readers.map((reader) => idles(reader, answers)))
      } while (answers < 5 && !readers.every(isWholeAt))
      readers.forEach(checkWhole)
      assert.ok(readers.every(isWholeAt), `${answers} answers`)
      const shown = readers.map(shownOf)
      assert.ok(shown.every(([first]) => first && first.shown.length > 0))
      for (const reader of readers) await reader[Symbol.asyncDispose]()
      for (const { server } of started) await server.kill()
      for (const { proxy } of started) await proxy[Symbol.asyncDispose]()
    },
  )

  verifies(
    ['stream/any-process', 'stream/event-deltas/order'],
    'show the same over NATS, and lose no event while it is away',
    async () => {
      await using nats = await natsServer()
      const overNats = { ...env, BUS_URL: nats.url }
      await using one = await startServer(overNats)
      await using two = await startServer(overNats)
      await using three = await startServer(overNats)
      const session = await sessionAt(one)
      const readers = await Promise.all([one, two, three].map((each) => streamAt(each, session)))
      await begin(one, session)
      await allHaveChunks(readers, 10)
      await nats.kill()
      await Promise.all(readers.map((reader) => idles(reader, 1)))
      await nats.start()
      for (const server of [one, two, three]) await logged(server, 'NATS is back')
      await send(one, session)
      await Promise.all(readers.map((reader) => idles(reader, 2)))
      readers.forEach(checkWhole)
      const shown = readers.map(shownOf)
      for (const [, second] of shown) assert.equal(second?.shown, second?.whole)
      for (const reader of readers) await reader[Symbol.asyncDispose]()
      assert.ok([one, two, three].every((each) => !each.said().includes(nats.password)))
    },
  )

  verifies(
    ['stream/any-process', 'running/recovery/interrupted-stream', 'running/recovery/nothing-lost'],
    'miss no event and show no wrong text when the process that runs the turn is killed in the middle',
    async () => {
      await using one = await startServer(env)
      await using two = await startServer(env)
      await using three = await startServer(env)
      const others = [two, three]
      const session = await sessionAt(one)
      const readers = await Promise.all(others.map((server) => streamAt(server, session)))
      await using own = await streamAt(one, session)
      // Any server may run a turn. The others are paused, so that the server that the test kills runs this one.
      for (const server of others) server.pause()
      await begin(one, session)
      await own.untilType('span.model_request_start')
      for (const server of others) server.resume()
      await allHaveChunks(readers, 5)
      await one.kill()
      await Promise.all(readers.map((reader) => idles(reader, 1)))
      readers.forEach(checkWhole)
      for (const reader of readers) {
        const whole = shownOf(reader)
        const last = whole.at(-1)?.whole ?? ''
        const count = last.split(' ').length - 1
        assert.ok(count >= words.least, last)
        assert.equal(last, wordsOf(count).join(''))
        await reader[Symbol.asyncDispose]()
      }
    },
  )
})
