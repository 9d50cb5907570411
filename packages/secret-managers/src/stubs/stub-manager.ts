/** For tests: a server in place of a secret manager, which may be slow, broken, or in another mood. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { SignedRequest } from '@steward/cloud/stubs/sigv4.ts'
import type { CloudAnswer } from '@steward/cloud/stubs/stub-server.ts'

export type StubRequest = SignedRequest
export type StubAnswer = CloudAnswer

export type StubManager = AsyncDisposable & {
  url: string
  requests: StubRequest[]
  /** `silent`: takes requests and does not answer. `broken`: ends each connection. */
  mood: 'well' | 'silent' | 'broken' | 'failing'
}

export async function startStubManager(
  answer: (request: StubRequest) => StubAnswer | undefined,
): Promise<StubManager> {
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      const { headers, method = 'GET', url: path = '/' } = incoming
      const host = String(headers.host)
      const request = { method, host, path, headers, body: Buffer.concat(chunks) }
      stub.requests.push(request)
      if (stub.mood === 'silent') return
      if (stub.mood === 'broken') return void incoming.socket.destroy()
      const failing: StubAnswer = { status: 500, body: 'an internal error' }
      const missing: StubAnswer = { status: 404, body: '{}' }
      const said = stub.mood === 'failing' ? failing : (answer(request) ?? missing)
      const { status = 200, headers: sent, body } = said
      response.writeHead(status, { 'content-type': 'application/json', ...sent })
      response.end(body)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  const stub: StubManager = {
    url: `http://127.0.0.1:${address.port}`,
    requests: [],
    mood: 'well',
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return stub
}

export const jsonAnswer = (body: unknown, status = 200): StubAnswer => ({
  status,
  body: JSON.stringify(body),
})

/** The JSON object of a request's body. */
export const bodyOf = ({ body }: StubRequest): Record<string, unknown> =>
  body.length === 0 ? {} : (JSON.parse(body.toString()) as Record<string, unknown>)

export const textOf = (body: Record<string, unknown>, name: string): string => {
  const value = body[name]
  return typeof value === 'string' ? value : ''
}

/** Versions of one secret, the oldest first. Null: destroyed. */
export type StubSecrets = Map<string, (string | null)[]>
