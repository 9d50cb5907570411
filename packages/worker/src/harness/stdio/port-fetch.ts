/**
 * HTTP to a program on a sandbox's loopback, which cannot be reached from outside. A command in the sandbox carries the
 * bytes.
 */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request as httpRequest } from 'node:http'
import { Duplex } from 'node:stream'
import type { GuardedFetch } from '@steward/harness/tools/fetch.ts'
import type { Sandbox } from '@steward/sandbox/sandbox.ts'

const longestMs = 600_000
const mostBytes = 32 * 1024 * 1024
const exits = { nobody: 7, tooLarge: 8 }

const carryScript = readFileSync(new URL('./carry.sh', import.meta.url), 'utf8')

/**
 * The answer is complete when it resolves. Server-sent streams are not supported: GET is answered with 405. Scheme and
 * host of a URL are ignored.
 */
export function portFetch(sandbox: () => Promise<Sandbox>, port: number): GuardedFetch {
  return async (url, init = {}) => {
    const { method = 'GET', body, signal } = init
    if (method === 'GET') return new Response(null, { status: 405 })
    if (body !== undefined && body !== null && typeof body !== 'string')
      throw new TypeError('a body that is no text')
    const started = await sandbox()
    const headers = { ...Object.fromEntries(new Headers(init.headers)), connection: 'close' }
    const sent: Buffer[] = []
    const socket = new Duplex({
      read() {},
      write(chunk: Buffer, _encoding, done) {
        sent.push(chunk)
        done()
      },
    })
    const { pathname, search } = new URL(url)
    const request = httpRequest({
      createConnection: () => socket,
      host: '127.0.0.1',
      port,
      method,
      path: pathname + search,
      headers,
    })
    const answered = new Promise<IncomingMessage>((resolve, reject) => {
      const other = () => reject(new Error('it answered that it speaks another protocol'))
      request.once('response', resolve).once('error', reject).once('upgrade', other)
    })
    answered.catch(() => {})
    request.end(body ?? undefined)
    await once(request, 'finish')
    try {
      socket.push(await carried(started, port, Buffer.concat(sent), signal ?? undefined))
      socket.push(null)
      return await responseOf(await answered)
    } finally {
      socket.destroy()
    }
  }
}

async function carried(
  sandbox: Sandbox,
  port: number,
  request: Buffer,
  signal: AbortSignal | undefined,
): Promise<Buffer> {
  const [sent, answered] = [fileName('request'), fileName('answer')]
  try {
    const written = await sandbox.write(sent, request)
    if (!written.ok) throw new Error(`the request could not be written: ${written.message}`)
    const result = await sandbox.aside({
      script: carryScript,
      arguments: [String(port), sent, answered, String(mostBytes)],
      timeoutMs: longestMs,
      ...(signal && { signal }),
    })
    signal?.throwIfAborted()
    if (result.exitCode === exits.nobody) throw new Error('nothing listens at its port')
    const read = await sandbox.read(answered, { offset: 0, maxBytes: mostBytes + 1 })
    if (!read.ok) throw new Error(`the answer could not be read: ${read.message}`)
    if (result.exitCode === exits.tooLarge || read.size > mostBytes)
      throw new Error(`the answer is larger than ${mostBytes} bytes`)
    if (read.size === 0) throw new Error('it ended the connection without an answer')
    return Buffer.from(read.bytes)
  } finally {
    await Promise.all([sent, answered].map((path) => sandbox.remove(path, '/tmp')))
  }
}

const fileName = (what: string): string => `/tmp/.steward-${what}-${randomUUID()}`

async function responseOf(answer: IncomingMessage): Promise<Response> {
  const pieces: Buffer[] = []
  for await (const piece of answer as AsyncIterable<Buffer>) pieces.push(piece)
  const { statusCode: status = 0 } = answer
  if (status < 200 || status > 599) throw new Error(`it answered with the status ${status}`)
  const headers = new Headers()
  for (const [name, value] of Object.entries(answer.headers)) headers.set(name, String(value))
  const hasBody = ![204, 205, 304].includes(status)
  return new Response(hasBody ? Buffer.concat(pieces) : null, { status, headers })
}

/** Tries `/mcp`, then `/`: the declaration of a stdio server names no path. */
export function atUsualPath(fetch: GuardedFetch): GuardedFetch {
  let path: string | undefined
  return async (url, init) => {
    const at = (pathname: string) => fetch(Object.assign(new URL(url), { pathname }), init)
    if (path !== undefined) return at(path)
    for (const each of ['/mcp', '/']) {
      const answer = await at(each)
      if (answer.ok) path = each
      if (answer.ok || ![404, 405].includes(answer.status)) return answer
    }
    return at('/mcp')
  }
}
