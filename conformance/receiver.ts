/** An HTTP server that stores the posts it receives, such as tellings and webhooks, and answers as the test sets. */
import { once } from 'node:events'
import type { IncomingHttpHeaders } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export type ReceivedPost = {
  method: string
  path: string
  headers: IncomingHttpHeaders
  body: string
}
export type ReceiverAnswer = { status: number; headers?: Record<string, string>; body?: string }

type AnswerPost = (posted: ReceivedPost) => ReceiverAnswer | null | Promise<ReceiverAnswer | null>

export type PostReceiver = {
  base: string
  posted: ReceivedPost[]
  /** Sets the answer of later requests. Null: no answer. A promise: the request waits for it. */
  answerWith(answer: AnswerPost): void
  close(): Promise<void>
}

export async function startReceiver(): Promise<PostReceiver> {
  const posted: ReceivedPost[] = []
  let answerTo: AnswerPost = () => ({ status: 200 })
  const server = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request
      const each = { method, path, headers, body: Buffer.concat(pieces).toString('utf8') }
      posted.push(each)
      void Promise.resolve(answerTo(each)).then((answer) => {
        if (answer) response.writeHead(answer.status, answer.headers).end(answer.body ?? '')
        else request.socket.destroy()
      })
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    base: `http://127.0.0.1:${port}`,
    posted,
    answerWith(answer) {
      answerTo = answer
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
