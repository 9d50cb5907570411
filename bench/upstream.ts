/**
 * The servers outside, in one process: hosts over TLS that answer at once, an authorisation server, and MCP servers.
 * The path selects the server. Arguments: the files of the key and of the certificate.
 */
import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import { text } from 'node:stream/consumers'

const small = Buffer.from(
  JSON.stringify({ jsonrpc: '2.0', id: 1, result: { text: 'x'.repeat(100) } }),
)
const piece = Buffer.alloc(256 * 1024, 'a line of something that compresses\n')

/** Number of renewals by name of the grant. */
const renewed = new Map<string, number>()
/** Milliseconds that each caller of the silent server waited. */
const patience: number[] = []

const json = (response: ServerResponse, status: number, body: object | Buffer): void => {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body))
  response.writeHead(status, ['Content-Type', 'application/json', 'Content-Length', bytes.length])
  response.end(bytes)
}

async function pour(response: ServerResponse, bytes: number): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/plain', 'content-length': bytes })
  for (let left = bytes; left > 0; left -= piece.length) {
    if (response.destroyed) return
    if (!response.write(left < piece.length ? piece.subarray(0, left) : piece)) {
      await new Promise((resolve) => response.once('drain', resolve))
    }
  }
  response.end()
}

async function renew(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const form = new URLSearchParams(await text(request))
  const [name = '', turn = ''] = form.get('refresh_token')?.split('.') ?? []
  const count = renewed.get(name) ?? 0
  // Only the newest refresh token is valid, as with servers that rotate refresh tokens.
  if (Number(turn) !== count) return json(response, 400, { error: 'invalid_grant' })
  renewed.set(name, count + 1)
  await new Promise((resolve) => setTimeout(resolve, 30))
  json(response, 200, {
    access_token: `access-of-${name}.${count + 1}`,
    refresh_token: `${name}.${count + 1}`,
    token_type: 'Bearer',
    expires_in: 3600,
  })
}

const tool = { name: 'echo', description: 'says it again', inputSchema: { type: 'object' } }
const results: Record<string, object> = {
  initialize: {
    protocolVersion: '2025-06-18',
    capabilities: { tools: {} },
    serverInfo: { name: 'bench', version: '1' },
  },
  'tools/list': { tools: [tool] },
  'tools/call': { content: [{ type: 'text', text: 'echo' }] },
}

async function mcp(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== 'POST') return void response.writeHead(405).end()
  const { id, method } = JSON.parse(await text(request)) as { id?: number; method: string }
  if (id === undefined) return void response.writeHead(202).end()
  json(response, 200, { jsonrpc: '2.0', id, result: results[method] ?? {} })
}

function hang(request: IncomingMessage, response: ServerResponse): void {
  const began = performance.now()
  request.resume()
  response.once('close', () => patience.push(performance.now() - began))
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { url = '/', headers } = request
  const [, server = '', name = ''] = url.split('/')
  switch (server) {
    case 'big':
      return pour(response, Number(name))
    case 'token':
      return renew(request, response)
    case 'grants': {
      const current = `Bearer access-of-${name}.${renewed.get(name) ?? 0}`
      const isGood = renewed.has(name) && headers.authorization === current
      request.resume()
      return json(response, isGood ? 200 : 401, small)
    }
    case 'seen':
      return json(response, 200, { renewed: Object.fromEntries(renewed), patience })
    case 'mcp':
      return mcp(request, response)
    case 'hang':
      return hang(request, response)
    default:
      // The server answers when it has read the whole request.
      if (request.method === 'GET') return json(response, 200, small)
      request.resume().once('end', () => json(response, 200, small))
  }
}

const [key = '', cert = ''] = process.argv.slice(2).map((path) => readFileSync(path, 'utf8'))
const server = createServer({ key, cert, keepAliveTimeout: 600_000 }, (request, response) => {
  answer(request, response).catch(() => response.destroy())
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.send?.(typeof address === 'object' && address ? address.port : 0)
})
process.on('disconnect', () => process.exit(0))
