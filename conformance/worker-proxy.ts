/** A proxy between a worker and the service: a test reads the requests and changes the answers. */
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, request as onward } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

type WorkerRequest = { what: string; token: string }
export type WorkerAnswer = { status: number; body: string }
/**
 * Replaces an answer of the service after the service has sent it. `silence`: the worker gets no answer. `lost`: the
 * connection is cut.
 */
export type Interference = (
  asked: WorkerRequest,
  answer: WorkerAnswer,
) => WorkerAnswer | 'silence' | 'lost' | undefined

export type WorkerProxy = AsyncDisposable & {
  base: string
  /** All requests so far: `METHOD path` without the query, and the token. */
  asked: WorkerRequest[]
  /** Applies to requests with a finite answer. Streams pass unchanged. */
  interfere(next: Interference): void
  /** Resolves when `times` requests in all have matched `what`, counted from the start. */
  came(what: RegExp, times?: number): Promise<void>
}

export async function startWorkerProxy({ base }: { base: string }): Promise<WorkerProxy> {
  const asked: WorkerRequest[] = []
  const waiting = new Set<() => void>()
  let interference: Interference = () => undefined

  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = request
    const one = {
      what: `${method} ${url.split('?')[0]}`,
      token: (headers.authorization ?? '').replace('Bearer ', ''),
    }
    asked.push(one)
    for (const look of waiting) look()
    const sending = onward(new URL(url, base), { method, headers })
    request.pipe(sending)
    const [answer] = (await once(sending, 'response')) as [IncomingMessage]
    if (/event-stream/.test(answer.headers['content-type'] ?? '')) {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      response.on('close', () => sending.destroy())
      answer.on('error', () => response.destroy()).pipe(response)
      return
    }
    const isText = /json/.test(answer.headers['content-type'] ?? '')
    if (!isText) {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
      return
    }
    const said = { status: answer.statusCode ?? 502, body: await text(answer) }
    const instead = interference(one, said) ?? said
    if (instead === 'silence') return
    if (instead === 'lost') {
      response.destroy()
      return
    }
    response.writeHead(instead.status, { 'content-type': 'application/json' }).end(instead.body)
  }

  const server = createServer((request, response) => {
    pass(request, response).catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    interfere: (next) => void (interference = next),
    came: (what, times = 1) =>
      new Promise((resolve) => {
        const look = () => {
          if (asked.filter((each) => what.test(each.what)).length < times) return
          waiting.delete(look)
          resolve()
        }
        waiting.add(look)
        look()
      }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => void server.close(resolve))
    },
  }
}
