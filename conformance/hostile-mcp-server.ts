/**
 * MCP servers whose lists and results are odd, huge or endless. They run on a thread of their own, so that writing the
 * answers costs the measured process nothing.
 */
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { z } from 'zod'

type HostileServers = {
  /** Resolves when `least` lists or calls have been asked for in all. Rejects after 20 s. */
  asked(least: number): Promise<void>
  close(): Promise<void>
}

/** The servers listen on one port, each at the path of its name. */
export async function startHostileServers(port: number): Promise<HostileServers> {
  const worker = new Worker(fileURLToPath(import.meta.url), { workerData: port })
  await once(worker, 'message')
  let requests = 0
  worker.on('message', () => requests++)
  return {
    async asked(least) {
      const signal = AbortSignal.timeout(20_000)
      while (requests < least) await once(worker, 'message', { signal })
    },
    async close() {
      await worker.terminate()
    },
  }
}

const Sent = z.looseObject({
  id: z.number().optional(),
  method: z.string(),
  params: z.looseObject({ cursor: z.string().optional() }).optional(),
})
type Sent = z.infer<typeof Sent>
/** Writes the answer to a request for the list or to a call, after `begin`. */
type Hostility = (response: ServerResponse, sent: Sent) => void

const megabyte = 1024 * 1024
const one = { name: 'one', inputSchema: { type: 'object' } }

const answer = ({ id }: Sent, result: string): string =>
  `{"jsonrpc":"2.0","id":${id ?? 'null'},"result":${result}}`

function sendJson(response: ServerResponse, text: string): void {
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(text)
}

/** Writes `head`, then `piece` as often as the reader takes it, at most `most` times, and `tail`. */
function sendStream(
  response: ServerResponse,
  { head = '', piece = '', tail = '', most = Infinity },
): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(head)
  const bytes = Buffer.from(piece)
  let left = most
  const writeMore = () => {
    while (!response.destroyed && left > 0) {
      left--
      if (!response.write(bytes)) return
    }
    if (left === 0) response.end(tail)
  }
  response.on('drain', writeMore)
  writeMore()
}

const listOf = (tools: readonly object[], more = ''): string =>
  `{"tools":${JSON.stringify(tools)}${more}}`
const many = Array.from({ length: 100_000 }, (_, at) => ({ ...one, name: `tool_${at}` }))
const large = { ...one, description: 'x'.repeat(28 * megabyte) }
const deep = (levels: number): string =>
  `${'{"type":"object","properties":{"a":'.repeat(levels)}{}${'}}'.repeat(levels)}`
const nested = `{"tools":[${Array.from({ length: 200 }, (_, at) => `{"name":"deep_${at}","inputSchema":${deep(1_000)}}`).join()}]}`
const [manyTools, largeTool] = [listOf(many), listOf([large]).slice(0, -1)]
const nextCursor = (): string => `"nextCursor":"${performance.now()}"`

const lists: Record<string, Hostility> = {
  'endless-pages': (response, sent) =>
    sendJson(response, answer(sent, listOf([one], `,${nextCursor()}`))),
  'endless-large-pages': (response, sent) =>
    sendJson(response, answer(sent, `${largeTool},${nextCursor()}}`)),
  'many-tools': (response, sent) => sendJson(response, answer(sent, manyTools)),
  'nested-schemas': (response, sent) => sendJson(response, answer(sent, nested)),
  'endless-list': (response) =>
    sendStream(response, { head: 'data: {"tools":[', piece: `${JSON.stringify(one)},` }),
}

const notice = `data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}\n\n`

const results: Record<string, Hostility> = {
  'large-result': (response, sent) =>
    sendStream(response, {
      head: `data: ${answer(sent, '{"content":[{"type":"text","text":"').slice(0, -1)}`,
      piece: 'x'.repeat(60),
      most: (28 * megabyte) / 60,
      tail: '"}]}}\n\n',
    }),
  'result-in-lines': (response, sent) =>
    sendStream(response, {
      head: `data: ${answer(sent, '{"content":[').slice(0, -1)}\n`,
      piece: 'data: {"type":"text","text":"0123456789"},\n',
      most: 60_000,
      tail: 'data: {}]}}\n\n',
    }),
  'endless-notices': (response) => sendStream(response, { piece: notice }),
  'endless-comments': (response) => sendStream(response, { piece: ': nothing\n\n' }),
  'endless-result': (response) => sendStream(response, { head: 'data: ', piece: 'x'.repeat(60) }),
}

/** The names of the servers. */
export const hostileServers: readonly string[] = [...Object.keys(lists), ...Object.keys(results)]

function respond(response: ServerResponse, name: string, sent: Sent): boolean {
  if (sent.method === 'initialize') {
    const version = JSON.stringify(sent.params?.['protocolVersion'])
    const told = `{"protocolVersion":${version},"capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}`
    sendJson(response, answer(sent, told))
    return false
  }
  const hostile = sent.method === 'tools/list' ? lists[name] : results[name]
  if (hostile) hostile(response, sent)
  else if (sent.method === 'tools/list') sendJson(response, answer(sent, listOf([one])))
  else sendJson(response, answer(sent, '{"content":[]}'))
  return hostile !== undefined
}

if (!isMainThread && parentPort) {
  const port = parentPort
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (piece: string) => (body += piece))
    request.on('end', () => {
      const sent = request.method === 'POST' ? Sent.parse(JSON.parse(body)) : undefined
      if (sent?.id === undefined) response.writeHead(sent ? 202 : 405).end()
      else if (respond(response, request.url?.slice(1) ?? '', sent)) port.postMessage('asked')
    })
  })
  server.listen(z.number().parse(workerData), '127.0.0.1', () => port.postMessage('listening'))
}
