/** For tests: one server on loopback in place of all hosts of the clouds. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { SignedRequest } from './sigv4.ts'

export type CloudAnswer = { status?: number; headers?: Record<string, string>; body: string }
export type CloudRoute = (
  request: SignedRequest & { form: URLSearchParams },
) => CloudAnswer | undefined

export type StubCloud = AsyncDisposable & {
  url: string
  requests: SignedRequest[]
  /** Leads every host to the server. */
  fetch: typeof globalThis.fetch
}

/** The header that keeps the host which a request was for. */
const hostHeader = 'x-stub-host'

/** The first route that answers wins. */
export async function startStubCloud(...routes: CloudRoute[]): Promise<StubCloud> {
  const requests: SignedRequest[] = []
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      const body = Buffer.concat(chunks)
      const { headers, method = 'GET', url: path = '/' } = incoming
      const host = String(headers[hostHeader] ?? headers.host)
      const request = { method, host, path, headers, body }
      requests.push(request)
      const form = new URLSearchParams(body.toString())
      let answer: CloudAnswer | undefined
      for (const route of routes) answer ??= route({ ...request, form })
      const { status = 200, headers: sent, body: said } = answer ?? { status: 404, body: 'nothing' }
      response.writeHead(status, { 'content-type': 'application/json', ...sent })
      response.end(said)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  const url = `http://127.0.0.1:${address.port}`
  return {
    url,
    requests,
    fetch: (input, init) => {
      const asked = new Request(input, init)
      const { host, pathname, search } = new URL(asked.url)
      asked.headers.set(hostHeader, host)
      const { method, headers, redirect, signal } = asked
      const body = init?.body ?? null
      return globalThis.fetch(`${url}${pathname}${search}`, {
        method,
        headers,
        redirect,
        signal,
        body,
      })
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

export const json = (body: unknown, status = 200, headers = {}): CloudAnswer => ({
  status,
  headers,
  body: JSON.stringify(body),
})
