/** An MCP server by the official library, as an agent declares one; its variables say what is wrong with it. */
import { createServer } from 'node:http'
import { env, exit, pid, stderr } from 'node:process'
import { Readable } from 'node:stream'
import { McpServer, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'
import * as z from 'zod'

const { PORT, AT = '/mcp', MOOD = 'well', MANY = '0', DEEP = '0', TOKEN = '' } = env
const text = (said) => ({ content: [{ type: 'text', text: said }] })

function make() {
  const server = new McpServer({ name: 'local', version: '1.0.0' })
  const tool = (name, inputSchema, run) =>
    server.registerTool(name, { description: `does ${name}`, inputSchema }, run)
  tool('echo', z.object({ text: z.string() }), (input) => text(input.text))
  tool('process', z.object({}), () => text(`${pid} ${TOKEN.length}`))
  tool('long', z.object({ length: z.number() }), ({ length }) => text('x'.repeat(length)))
  tool('slow', z.object({ ms: z.number() }), async ({ ms }) => {
    await new Promise((resolve) => setTimeout(resolve, ms))
    return text('late')
  })
  tool('die', z.object({}), () => exit(9))
  let deep = z.object({})
  for (let n = 0; n < Number(DEEP); n++) deep = z.object({ a: deep })
  if (DEEP !== '0') tool('deep', deep, () => text('deep'))
  for (let n = 0; n < Number(MANY); n++)
    server.registerTool(
      `tool_${n}`,
      { description: 'd'.repeat(8_000), inputSchema: z.object({}) },
      () => text(''),
    )
  return server
}

const sessions = new Map()

async function begin() {
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: () => crypto.randomUUID(),
    onsessioninitialized: (session) => void sessions.set(session, transport),
  })
  await make().connect(transport)
  return transport
}

async function answer(incoming, outgoing) {
  if (incoming.url !== AT) return outgoing.writeHead(404).end()
  const id = incoming.headers['mcp-session-id']
  if (id && !sessions.has(id)) return outgoing.writeHead(404).end()
  const transport = sessions.get(id) ?? (await begin())
  const pieces = []
  for await (const piece of incoming) pieces.push(piece)
  const response = await transport.handleRequest(
    new Request(`http://127.0.0.1:${PORT}${AT}`, {
      method: incoming.method,
      headers: incoming.headers,
      ...(pieces.length > 0 ? { body: Buffer.concat(pieces) } : {}),
    }),
  )
  outgoing.writeHead(response.status, Object.fromEntries(response.headers))
  if (response.body) Readable.fromWeb(response.body).pipe(outgoing)
  else outgoing.end()
}

const server = createServer((incoming, outgoing) => void answer(incoming, outgoing))
if (MOOD === 'never') setInterval(() => {}, 1_000)
else if (MOOD === 'ends') {
  stderr.write(`it has no use for ${TOKEN}\n`)
  setTimeout(() => exit(4), 10)
} else server.listen(Number(PORT), '127.0.0.1')
