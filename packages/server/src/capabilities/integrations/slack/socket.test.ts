import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import { WebSocket } from 'undici'
import type { WebSocket as Peer } from 'ws'
import { WebSocketServer } from 'ws'
import { jsonLog } from '@steward/base/log.ts'
import type { Send } from '../answers/send.ts'
import { slackSocketJob } from './socket.ts'

type Taken = { body: string; kept: PromiseWithResolvers<void> }

/** A Slack that opens sockets for the app's token. */
async function opened(appToken = 'xapp-1') {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  await once(server, 'listening')
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/link`
  const taken: Taken[] = []
  let asked = 0
  const send: Send = async ({ url: at, headers }) => {
    asked++
    const isKnown =
      at.endsWith('/apps.connections.open') && headers['authorization'] === 'Bearer xapp-1'
    const body = JSON.stringify(isKnown ? { ok: true, url } : { ok: false, error: 'invalid_auth' })
    return { status: 200, retryAfter: null, body }
  }
  const job = slackSocketJob({
    apiUrl: 'https://slack.example/api',
    appToken,
    send,
    log: jsonLog(() => {}),
    open: (to) => Promise.resolve(new WebSocket(to)),
    take(body) {
      const kept = Promise.withResolvers<void>()
      taken.push({ body: Buffer.from(body).toString(), kept })
      return kept.promise
    },
  })
  const { signal } = new AbortController()
  const again = Promise.withResolvers<void>()
  const stop = job.start?.(() => again.resolve())
  async function connect(): Promise<Peer> {
    const connected = once(server, 'connection') as Promise<[Peer]>
    await job.run(signal)
    return (await connected)[0]
  }
  return {
    ...{ taken, connect, again: again.promise },
    asked: () => asked,
    run: () => job.run(signal),
    async [Symbol.asyncDispose]() {
      await stop?.()
      for (const peer of server.clients) peer.terminate()
      server.close()
    },
  }
}

const until = async (isSo: () => boolean): Promise<void> => {
  while (!isSo()) await new Promise(setImmediate)
}
const envelope = (envelope_id: string, payload: object) =>
  JSON.stringify({ type: 'events_api', envelope_id, payload })

describe('a socket to Slack', () => {
  it('acknowledges a delivery once it is kept, and not before', async () => {
    await using slack = await opened()
    const peer = await slack.connect()
    const said: string[] = []
    peer.on('message', (data: Buffer) => said.push(data.toString()))
    peer.send(JSON.stringify({ type: 'hello' }))
    peer.send('no JSON')
    peer.send(envelope('one', { event_id: 'Ev1' }))
    peer.send(envelope('two', { event_id: 'Ev2' }))
    await until(() => slack.taken.length === 2)
    assert.deepEqual(
      slack.taken.map(({ body }) => body),
      ['{"event_id":"Ev1"}', '{"event_id":"Ev2"}'],
    )
    slack.taken[0]?.kept.reject(new Error('the disk is full'))
    slack.taken[1]?.kept.resolve()
    await until(() => said.length > 0)
    assert.deepEqual(said, ['{"envelope_id":"two"}'])
  })

  it('is opened once, and anew when Slack says that it ends', async () => {
    await using slack = await opened()
    const peer = await slack.connect()
    await slack.run()
    assert.equal(slack.asked(), 1)
    peer.send(JSON.stringify({ type: 'disconnect', reason: 'refresh_requested' }))
    await slack.again
    const next = await slack.connect()
    assert.equal(slack.asked(), 2)
    next.terminate()
    // The job notices the end of the connection a moment later.
    while (slack.asked() < 3) {
      await new Promise(setImmediate)
      await slack.run()
    }
  })

  it('is asked for again where Slack refuses the token', async () => {
    await using slack = await opened('xapp-2')
    await slack.run()
    await slack.run()
    assert.equal(slack.asked(), 2)
  })
})
