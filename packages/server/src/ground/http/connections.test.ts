import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { describe, it } from 'node:test'
import { z } from 'zod'
import { dialServer, serveRoutes } from './fixture.ts'
import { route } from './route.ts'

const callerKey = 'workspace'
const fixed = { section: 'Tests', summary: 'For tests', answer: z.looseObject({}) } as const
const mine = route(
  { ...fixed, method: 'get', path: '/mine', callers: ['workspace'] },
  async () => ({ ok: true }),
)

const ask = (key: string) => `GET /mine HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\n\r\n`

/** A connection that has its first answer. */
async function answered(port: number, key: string): Promise<Socket> {
  const socket = await dialServer(port, ask(key))
  socket.on('error', () => {})
  await once(socket, 'data')
  return socket
}

async function silent(port: number): Promise<Socket> {
  return (await dialServer(port, '')).on('error', () => {}).resume()
}

const isOpen = (socket: Socket) => !socket.destroyed && !socket.readableEnded
const settled = () => new Promise((resolve) => setTimeout(resolve, 50))

describe('connections of callers beyond the bound', () => {
  // verifies: limits/connections
  it('end the oldest that shows no key and asks nothing, and none that has shown one', async () => {
    await using server = await serveRoutes([mine], { connections: 4 })
    const withKey = await answered(server.port, callerKey)
    const wrong = await answered(server.port, 'no key')
    const waiting = [await silent(server.port), await silent(server.port)]
    const next = await silent(server.port)
    await settled()
    assert.deepEqual([withKey, wrong, ...waiting, next].map(isOpen), [
      true,
      false,
      true,
      true,
      true,
    ])
    withKey.write(ask(callerKey))
    const [text] = (await once(withKey, 'data')) as [string]
    assert.match(text, /^HTTP\/1\.1 200 /)
  })

  it('keep room for a caller with a key, however many say nothing', async () => {
    await using server = await serveRoutes([mine], { connections: 4 })
    const flood = await Promise.all(Array.from({ length: 50 }, () => silent(server.port)))
    await answered(server.port, callerKey)
    await settled()
    assert.equal(flood.filter(isOpen).length, 3)
    assert.equal(await server.connections(), 4)
  })

  it('end themselves when all others have shown a key', async () => {
    await using server = await serveRoutes([mine], { connections: 2 })
    const both = [await answered(server.port, callerKey), await answered(server.port, callerKey)]
    const late = await silent(server.port)
    await settled()
    assert.deepEqual([...both, late].map(isOpen), [true, true, false])
    both[0]?.destroy()
    await settled()
    assert.equal(isOpen(await answered(server.port, callerKey)), true)
  })
})
