import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import type { Bus } from '../../ground/bus/bus.ts'
import { newId } from '../../ground/core/text/ids.ts'
import { databases } from '../../ground/database/fixture.ts'
import { keepEvents, tenant } from '../log/fixture.ts'
import { takeWaiting, readWaiting } from '../log/inbox.ts'
import { appendEntries } from '../log/append.ts'
import { dialServer, serveRoutes } from '../../ground/http/fixture.ts'
import { testGround } from '../../ground/ground-fixture.ts'
import { newSession } from '../fixture.ts'
import { archiveSession, deleteSession } from '../update.ts'
import { sessionEventRoutes } from './routes.ts'
import { unusedKeeping } from '../../ground/blobs/fixture.ts'

/** The routes over a real server, and a runner that is played by the test. */
async function serving() {
  const opened = await databases.sqlite()
  const { database, bus } = opened
  let listening = 0
  const changed: (() => void)[] = []
  const counting: Bus = {
    ...bus,
    subscribe(topic, hear) {
      const quiet = bus.subscribe(topic, hear)
      let on = true
      const count = (by: number) => {
        listening += by
        for (const wake of changed.splice(0)) wake()
      }
      count(1)
      return () => {
        if (on) count(-1)
        on = false
        quiet()
      }
    },
  }
  const ground = testGround(database, { bus: counting })
  const deps = {
    ...ground,
    keeping: unusedKeeping(ground.databases),
    changes: { followWait: () => () => {} },
  }
  const server = await serveRoutes(sessionEventRoutes(deps), { databases: deps.databases })
  return {
    database,
    server,
    bus,
    untilListening: async (many: number) => {
      while (listening !== many) await new Promise<void>((resolve) => changed.push(resolve))
    },
    post: (session: string, body: object = { content: 'hello' }) =>
      fetch(`${server.url}/v1/sessions/${session}/messages`, {
        method: 'POST',
        headers: { 'x-api-key': 'workspace' },
        body: JSON.stringify(body),
      }),
    /** Promotes all waiting events into the log, between two status events. */
    async turn(session: string) {
      await database.write(async (tx) => {
        const queue = await readWaiting(tx, tenant, session)
        const taken = await takeWaiting(tx, tenant, session, queue.at(-1)?.position ?? 0)
        const entries = [
          { event: { id: newId('event'), type: 'session.status_running' as const } },
          ...taken,
          { event: idle() },
        ]
        await appendEntries(tx, tenant, session, entries, { now: 0 })
      })
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      await opened[Symbol.asyncDispose]()
    },
  }
}

const idle = () => ({
  id: newId('event'),
  type: 'session.status_idle' as const,
  stop_reason: { type: 'end_turn' as const },
  stop_details: null,
})

const typesOf = (text: string) =>
  [...text.matchAll(/^data: (.*)$/gm)].map(
    ([, data]) => (JSON.parse(data ?? '') as { type: string }).type,
  )

describe('a posted message that is followed', () => {
  it('streams its turn and closes at the idle that ends it', async () => {
    await using at = await serving()
    const session = await newSession(at.database)
    const answer = await at.post(session)
    assert.equal(answer.status, 200)
    assert.match(answer.headers.get('content-type') ?? '', /^text\/event-stream/)
    await at.turn(session)
    assert.deepEqual(typesOf(await answer.text()), [
      'user.message',
      'system.user_message_pending',
      'system.user_message_promoted',
      'session.status_running',
      'user.message',
      'session.status_idle',
    ])
    await at.untilListening(0)
  })

  it('does not close at the idle of the turn before its own', async () => {
    await using at = await serving()
    const session = await newSession(at.database, 'running')
    const answer = await at.post(session)
    await keepEvents(at.database, session, [idle()])
    await at.turn(session)
    const types = typesOf(await answer.text())
    assert.equal(types.filter((type) => type === 'session.status_idle').length, 2)
  })

  it('closes when its session is archived or deleted before its turn', async () => {
    for (const [end, last] of [
      [archiveSession, 'session.status_terminated'],
      [deleteSession, 'session.deleted'],
    ] as const) {
      await using at = await serving()
      const session = await newSession(at.database)
      const answer = await at.post(session)
      await at.database.write(async (tx) => void (await end(tx, tenant, session, 0)))
      const types = typesOf(await answer.text())
      assert.ok(types.includes('system.user_message_cancelled') || types.includes(last))
      await at.untilListening(0)
    }
  })

  it('keeps no subscription when its reader disconnects', async () => {
    await using at = await serving()
    const session = await newSession(at.database)
    const body = '{"content":"hello"}'
    const socket = await dialServer(
      at.server.port,
      `POST /v1/sessions/${session}/messages HTTP/1.1\r\nhost: x\r\nx-api-key: workspace\r\n` +
        `content-length: ${body.length}\r\n\r\n${body}`,
    )
    await once(socket, 'data')
    await at.untilListening(1)
    socket.destroy()
    await at.untilListening(0)
  })

  it('keeps no subscription when it is refused', async () => {
    await using at = await serving()
    const session = await newSession(at.database)
    await at.database.write((tx) => archiveSession(tx, tenant, session, 0))
    const file = { type: 'image', source: { type: 'file', file_id: 'file_1' } }
    assert.equal((await at.post(session, { content: [file] })).status, 400)
    assert.equal((await at.post(session)).status, 400)
    assert.equal((await at.post('sesn_none')).status, 404)
    assert.equal((await at.post(session, { content: '' })).status, 400)
    await at.untilListening(0)
  })
})

describe('a stream of events over HTTP', () => {
  it('keeps no subscription when its reader disconnects', async () => {
    await using at = await serving()
    const session = await newSession(at.database)
    const socket = await dialServer(
      at.server.port,
      `GET /v1/sessions/${session}/events/stream HTTP/1.1\r\nhost: x\r\nx-api-key: workspace\r\n\r\n`,
    )
    await once(socket, 'data')
    await at.untilListening(1)
    socket.destroy()
    await at.untilListening(0)
  })

  it('is what GET events gives to a reader who accepts it, and to no other', async () => {
    await using at = await serving()
    const session = await newSession(at.database)
    await keepEvents(at.database, session, [idle()])
    const ask = async (path: string, accept: string) => {
      const leaving = new AbortController()
      const answer = await fetch(`${at.server.url}/v1/sessions/${session}/${path}`, {
        headers: { 'x-api-key': 'workspace', accept },
        signal: leaving.signal,
      })
      leaving.abort()
      return answer.headers.get('content-type')?.split(';')[0]
    }
    assert.equal(await ask('events', 'text/event-stream'), 'text/event-stream')
    assert.equal(await ask('events', 'application/json'), 'application/json')
    assert.equal(await ask('events', '*/*'), 'application/json')
    assert.equal(await ask('events/stream', 'application/json'), 'text/event-stream')
    await at.untilListening(0)
  })
})
