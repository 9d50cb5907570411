/** A container engine asked over its unix socket, by the API that Docker has and Podman answers too. */
import { request } from 'node:http'
import type { ClientRequest, IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { text } from 'node:stream/consumers'
import { parseObject } from '@steward/base/json-object.ts'

/** An answer of 400 and above, with the engine's own words; or no answer, with status 0. */
export class EngineError extends Error {
  override readonly name = 'EngineError'
  readonly status: number

  constructor(message: string, status: number, options?: ErrorOptions) {
    super(message, options)
    this.status = status
  }
}

export type Engine = {
  /** The answer's JSON, or undefined when it has none. */
  call(method: 'GET' | 'POST' | 'DELETE', path: string, body?: unknown): Promise<unknown>
  /** The lines of an answer that goes on for long, each JSON. */
  follow(method: 'POST', path: string): AsyncGenerator<unknown>
  /** The connection itself, for both directions. */
  hijack(path: string): Promise<Duplex>
}

const answerWithinMs = 60_000
/** Of an answer that goes on: how long it may say nothing. */
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
  let rest = ''
  for await (const chunk of answer) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line.trim() !== '') yield JSON.parse(line)
  }
  if (rest.trim() !== '') yield JSON.parse(rest)
}

function messageOf(said: string): string {
  try {
    const { message, cause } = parseObject(said)
    if (typeof message === 'string') return message
    if (typeof cause === 'string') return cause
  } catch {
    // Not the engine's usual form: its words as they are.
  }
  return said.trim() || 'no reason given'
}
