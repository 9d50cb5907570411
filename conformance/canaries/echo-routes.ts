/** Routes of an upstream, by path. Each echoes the request in another form. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'

export const authorizationOf = ({ headers }: IncomingMessage) => String(headers.authorization)

type EchoRoute = (said: string, request: IncomingMessage, response: ServerResponse) => unknown

async function inPieces(response: ServerResponse, said: string): Promise<void> {
  for (const byte of Buffer.from(said)) {
    response.write(Buffer.of(byte))
    await new Promise(setImmediate)
  }
  response.end()
}

const encoded =
  (encode: (said: string) => Buffer, ...encodings: string[]): EchoRoute =>
  (said, _, response) => {
    const headers = encodings.flatMap((encoding) => ['content-encoding', encoding])
    response.writeHead(200, headers).end(encode(said))
  }

export const echoRoutes: Readonly<Record<string, EchoRoute>> = {
  '/plain': (said, _, response) => response.end(said),
  '/gzip': encoded(gzipSync, 'gzip'),
  '/brotli': encoded(brotliCompressSync, 'br'),
  '/deflate': encoded(deflateSync, 'deflate'),
  '/two-encodings': encoded(gzipSync, 'identity', 'gzip'),
  '/twice-encoded': encoded((said) => gzipSync(gzipSync(said)), 'gzip', 'gzip'),
  '/listed-encodings': encoded(gzipSync, 'identity, gzip'),
  '/pieces': (said, _, response) => void inPieces(response, said),
  '/base64': (said, _, response) => {
    const shifted = ['', 'x', 'xx'].map((more) => Buffer.from(more + said).toString('base64'))
    response.end(shifted.join('\n'))
  },
  '/json-in-json': (said, _, response) => response.end(JSON.stringify({ said })),
  '/redirect': (said, request, response) => {
    const location = `https://other.example/?got=${encodeURIComponent(said)}`
    response.writeHead(302, { location, 'x-got': authorizationOf(request) }).end()
  },
  '/form': (said, _, response) => response.end(new URLSearchParams({ said }).toString()),
  '/cookie': (_, request, response) =>
    response.writeHead(200, { 'set-cookie': `got=${authorizationOf(request)}` }).end('ok'),
  '/error': (said, request, response) =>
    response.writeHead(500, authorizationOf(request), { 'content-type': 'text/html' }).end(said),
  '/trailers': (said, request, response) => {
    response.writeHead(200, { trailer: 'x-got' })
    response.write(said)
    response.addTrailers({ 'x-got': authorizationOf(request) })
    response.end()
  },
  '/early': (said, request, response) => {
    response.writeEarlyHints({ link: '</x>; rel=preload', 'x-got': authorizationOf(request) })
    response.end(said)
  },
  '/reset': (said, _, response) => {
    response.writeHead(200, { 'content-length': String(said.length + 10) })
    response.write(said, () => response.destroy())
  },
  '/reset-at-once': (_, request) => void request.socket.destroy(),
}

/** Echoes the request on an upgraded connection, in one text frame. */
export function sayUpgraded(request: IncomingMessage, socket: Duplex): void {
  socket.on('error', () => socket.destroy())
  const got = JSON.stringify(request.rawHeaders)
  const head = [
    'HTTP/1.1 101 Switching Protocols',
    'connection: upgrade',
    'upgrade: websocket',
    `x-got: ${authorizationOf(request)}`,
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  const frame = Buffer.alloc(4)
  frame.writeUInt16BE(0x817e)
  frame.writeUInt16BE(Buffer.byteLength(got), 2)
  socket.end(Buffer.concat([frame, Buffer.from(got)]))
}
