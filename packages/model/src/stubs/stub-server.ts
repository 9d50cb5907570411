/** For tests: a model provider on loopback whose next answers are scripted. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { once } from 'node:events'

export type StubBlock =
  | { type: 'text'; pieces: string[] }
  | { type: 'thinking'; pieces: string[]; signature: string }
  | { type: 'tool_call'; id: string; name: string; pieces: string[] }

export type StubAnswer = {
  blocks: StubBlock[]
  stop: 'end_turn' | 'tool_use' | 'max_tokens' | 'refusal'
  usage?: { input: number; output: number; cacheRead?: number; cacheWrite?: number }
}

export type StubReply =
  | StubAnswer
  /** An error, with the body of the wire for errors of this kind. */
  | { status: number; error: string; message: string; headers?: Record<string, string> }
  /** A body that is sent unchanged. */
  | { body: string; contentType: string }
  /** `hold` is called when the request has come; the answer is sent when its promise resolves. */
  | { answer: StubAnswer; hold: () => Promise<void> }
  /** The beginning of an answer, after which the connection is cut or hangs. */
  | { answer: StubAnswer; frames: number; after: 'cut' | 'hang' }
  | 'hang'

export type StubRequest = {
  path: string
  headers: IncomingHttpHeaders
  body: Record<string, unknown>
}

/** The encoding of an answer on a wire. */
export type StubDialect = {
  frames(answer: StubAnswer): string[]
  /** How frames are sent. Default: as server-sent events. */
  encoding?: { contentType: string; encode: (frame: string) => Uint8Array }
  error(status: number, kind: string, message: string): string
  /** An answer to a request that the provider would not let in; undefined: the reply that is due. */
  refuse?: (
    request: StubRequest & { method: string; bytes: Buffer },
  ) => { status: number; body: string; headers?: Record<string, string> } | undefined
}

export type StubModel = {
  url: string
  requests: StubRequest[]
  /** Answers in this order; the last one is repeated. */
  replies(...next: StubReply[]): void
  /** Answers each request by what it says, before the replies in order; undefined: by these. */
  repliesBy(choose: (request: StubRequest) => StubReply | undefined): void
  [Symbol.asyncDispose](): Promise<void>
}

export async function startStub(dialect: StubDialect): Promise<StubModel> {
  const requests: StubRequest[] = []
  let queue: StubReply[] = []
  let choose: (request: StubRequest) => StubReply | undefined = () => undefined
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString()
      const recorded: StubRequest = {
        path: request.url ?? '',
        headers: request.headers,
        body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
      }
      requests.push(recorded)
      const { method = '' } = request
      const refused = dialect.refuse?.({ ...recorded, method, bytes: Buffer.concat(chunks) })
      if (refused) {
        response.writeHead(refused.status, {
          'content-type': 'application/json',
          ...refused.headers,
        })
        return void response.end(refused.body)
      }
      const reply = choose(recorded) ?? (queue.length > 1 ? queue.shift() : queue[0])
      if (reply !== undefined) answer(dialect, reply, response)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    requests,
    replies(...next) {
      queue = next
    },
    repliesBy(by) {
      choose = by
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function answer(dialect: StubDialect, reply: StubReply, response: ServerResponse): void {
  if (reply === 'hang') return
  if ('status' in reply) {
    response.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers })
    response.end(dialect.error(reply.status, reply.error, reply.message))
    return
  }
  if ('body' in reply) {
    response.writeHead(200, { 'content-type': reply.contentType })
    response.end(reply.body)
    return
  }
  if ('hold' in reply) {
    void reply.hold().then(() => answer(dialect, reply.answer, response))
    return
  }
  const { contentType, encode } = dialect.encoding ?? asEvents
  response.writeHead(200, { 'content-type': contentType })
  if ('blocks' in reply) {
    for (const frame of dialect.frames(reply)) response.write(encode(frame))
    response.end()
    return
  }
  const frames = dialect.frames(reply.answer).slice(0, reply.frames)
  const beginning = Buffer.concat(frames.map((frame) => encode(frame)))
  response.write(beginning, () => {
    if (reply.after === 'cut') response.destroy()
  })
}

const asEvents = { contentType: 'text/event-stream', encode: (frame: string) => Buffer.from(frame) }

export function formatSse(data: unknown, event?: string): string {
  const head = event === undefined ? '' : `event: ${event}\n`
  return `${head}data: ${JSON.stringify(data)}\n\n`
}
