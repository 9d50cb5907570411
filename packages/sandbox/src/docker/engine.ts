/** A client of a container engine over its unix socket, by Docker's API, which Podman also answers. */
import { request } from 'node:http'
import type { ClientRequest, IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { text } from 'node:stream/consumers'
import { parseObject } from '@steward/base/json-object.ts'
import { lineCutter } from '@steward/base/line-cutter.ts'

/** A status of 400 or above with the engine's message. Status 0: the engine did not answer. */
export class EngineError extends Error {
  override readonly name = 'EngineError'
  readonly status: number

  constructor(message: string, status: number, options?: ErrorOptions) {
    super(message, options)
    this.status = status
  }
}

export type Engine = {
  /** Returns the answer's JSON; undefined when there is none. */
  call(method: 'GET' | 'POST' | 'DELETE', path: string, body?: unknown): Promise<unknown>
  /** Yields the JSON lines of a streaming answer. */
  follow(method: 'POST', path: string): AsyncGenerator<unknown>
  /** Returns the raw connection, for both directions. */
  hijack(path: string): Promise<Duplex>
}

const answerWithinMs = 60_000
/** Longest silence of a streaming answer. */
const silentMs = 300_000

export function engineAt(socketPath: string): Engine {
  function ask(method: string, path: string, headers: Record<string, string>): ClientRequest {
    return request({
      socketPath,
      method,
      path,
      headers: { host: 'engine', ...headers },
      agent: false,
    })
  }

  async function send(asked: ClientRequest, waitMs: number, body?: string) {
    asked.setTimeout(waitMs, () => asked.destroy(new Error(`no answer in ${waitMs / 1000} s`)))
    const answered = answerOf(asked)
    asked.end(body)
    const answer = await answered.catch((cause: Error) => {
      throw new EngineError(`the engine at ${socketPath}: ${cause.message}`, 0, { cause })
    })
    if (answer.statusCode !== undefined && answer.statusCode < 400) return answer
    throw new EngineError(messageOf(await text(answer)), answer.statusCode ?? 0)
  }

  return {
    async call(method, path, body) {
      const json = body === undefined ? undefined : JSON.stringify(body)
      const headers: Record<string, string> =
        json === undefined
          ? {}
          : {
              'content-type': 'application/json',
              'content-length': String(Buffer.byteLength(json)),
            }
      const answer = await send(ask(method, path, headers), answerWithinMs, json)
      const said = await text(answer)
      return said.trim() === '' ? undefined : JSON.parse(said)
    },
    async *follow(method, path) {
      const answer = await send(ask(method, path, {}), silentMs)
      yield* jsonLines(answer)
    },
    async hijack(path) {
      const asked = ask('POST', path, { upgrade: 'tcp', connection: 'Upgrade' })
      const { promise, resolve, reject } = Promise.withResolvers<Duplex>()
      asked.once('upgrade', (_answer, socket: Duplex, head: Buffer) => {
        asked.setTimeout(0)
        if (head.length > 0) socket.unshift(head)
        resolve(socket)
      })
      send(asked, answerWithinMs).then((answer) => {
        answer.destroy()
        reject(new EngineError('the engine does not hand over the connection', 0))
      }, reject)
      return promise
    },
  }
}

const answerOf = (asked: ClientRequest): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    asked.once('response', resolve).once('error', reject)
  })

async function* jsonLines(answer: AsyncIterable<Buffer>): AsyncGenerator<unknown> {
  const decoder = new TextDecoder()
  const cutter = lineCutter()
  for await (const chunk of answer) {
    const lines = cutter.read(decoder.decode(chunk, { stream: true }))
    for (const line of lines) if (line.trim() !== '') yield JSON.parse(line)
  }
  const rest = cutter.rest()
  if (rest.trim() !== '') yield JSON.parse(rest)
}

function messageOf(said: string): string {
  try {
    const { message, cause } = parseObject(said)
    if (typeof message === 'string') return message
    if (typeof cause === 'string') return cause
  } catch {
    // Not the engine's usual JSON: the text itself is the message.
  }
  return said.trim() || 'no reason given'
}
