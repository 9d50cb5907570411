import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  callServerTool,
  echoServer,
  findTool,
  openServers,
  awaitServers,
  ssePeer,
  streamablePeer,
  textOf,
} from './mcp-fixture.ts'

void describe('a call of an MCP tool', () => {
  const slow = (told: string[]) => () =>
    echoServer((mcp) =>
      mcp.registerTool('slow', { description: 'never ends' }, async (ctx) => {
        await new Promise((resolve) => ctx.mcpReq.signal.addEventListener('abort', resolve))
        told.push('cancelled')
        return { content: [] }
      }),
    )

  void it('that is interrupted ends at once, and the server is notified', async () => {
    const told: string[] = []
    await using server = await streamablePeer(slow(told))
    await using servers = openServers({ a: server.url })
    await awaitServers(servers)
    const stop = new AbortController()
    const running = callServerTool(servers, 'mcp__a__slow', {}, stop.signal)
    setTimeout(() => stop.abort(), 50)
    assert.match(textOf(await running), /interrupted/)
    for (let tries = 0; tries < 100 && told.length === 0; tries++)
      await new Promise((resolve) => setTimeout(resolve, 10))
    assert.deepEqual(told, ['cancelled'])
    for (let tries = 0; tries < 100 && server.open() > 1; tries++)
      await new Promise((resolve) => setTimeout(resolve, 10))
    assert.equal(server.open(), 1, 'only the stream of notifications stays open')
  })

  void it('ends when the server gives no sign for too long', async () => {
    await using server = await streamablePeer(slow([]))
    await using servers = openServers({ a: server.url }, { callMs: 100 })
    await awaitServers(servers)
    const result = await callServerTool(servers, 'mcp__a__slow')
    assert.equal(result.is_error, true)
    assert.match(textOf(result), /no sign for 100 ms/)
  })

  void it('goes on while the server reports progress', async () => {
    await using server = await streamablePeer(() =>
      echoServer((mcp) =>
        mcp.registerTool('steps', { description: 'takes steps' }, async (ctx) => {
          const progressToken = ctx.mcpReq._meta?.progressToken
          assert.ok(progressToken !== undefined)
          for (let progress = 1; progress <= 6; progress++) {
            await new Promise((resolve) => setTimeout(resolve, 60))
            await ctx.mcpReq.notify({
              method: 'notifications/progress',
              params: { progressToken, progress },
            })
          }
          return { content: [{ type: 'text', text: 'done' }] }
        }),
      ),
    )
    await using servers = openServers({ a: server.url }, { callMs: 200 })
    await awaitServers(servers)
    assert.equal(textOf(await callServerTool(servers, 'mcp__a__steps')), 'done')
  })

  void it('that is refused for its credentials says so, to people too', async () => {
    await using server = await streamablePeer(
      () => echoServer(),
      (_request, message) => {
        const { method } = (message ?? {}) as { method?: string }
        return method === 'tools/call' ? new Response('expired', { status: 401 }) : undefined
      },
    )
    await using servers = openServers({ a: server.url })
    await awaitServers(servers)
    const result = await callServerTool(servers, 'mcp__a__echo', { text: 'x' })
    assert.match(textOf(result), /MCP server a .*401/)
    assert.equal(result.is_error, true)
    assert.deepEqual(
      servers.failures().map(({ server: name, type }) => [name, type]),
      [['a', 'mcp_authentication_failed_error']],
    )
  })

  void it('over the older transport ends with the stream it is answered on', async () => {
    const server = await ssePeer(slow([]))
    await using servers = openServers({ a: server.url })
    await awaitServers(servers)
    const running = callServerTool(servers, 'mcp__a__slow')
    setTimeout(() => void server[Symbol.asyncDispose](), 50)
    const result = await running
    assert.equal(result.is_error, true)
    assert.match(textOf(result), /did not answer.*may have run/)
  })

  void it('shows an error of the tool and an error of the server as errors', async () => {
    await using server = await streamablePeer(() =>
      echoServer((mcp) => {
        mcp.registerTool('fails', { description: 'fails' }, () => ({
          content: [{ type: 'text', text: 'no such file' }],
          isError: true,
        }))
      }),
    )
    await using servers = openServers({ a: server.url })
    await awaitServers(servers)
    const failed = await callServerTool(servers, 'mcp__a__fails')
    assert.deepEqual([textOf(failed), failed.is_error], ['no such file', true])
    const wrong = await callServerTool(servers, 'mcp__a__echo', { text: 7 })
    assert.equal(wrong.is_error, true)
    assert.deepEqual(servers.failures(), [])
  })

  void it('is cut when its result is too long and there is no sandbox to keep it', async () => {
    await using server = await streamablePeer(() =>
      echoServer((mcp) =>
        mcp.registerTool('long', { description: 'says much' }, () => ({
          content: [{ type: 'text', text: 'x'.repeat(100_001) }],
        })),
      ),
    )
    await using servers = openServers({ a: server.url })
    await awaitServers(servers)
    const said = textOf(await callServerTool(servers, 'mcp__a__long'))
    assert.ok(said.length < 10_000)
    assert.match(said, /could not be kept: there is none/)
  })

  void it('does not run here what a server wrote as a pattern', async () => {
    const inputSchema = {
      type: 'object' as const,
      properties: { text: { type: 'string', pattern: '^(a+)+$' } },
    }
    await using server = await streamablePeer(() =>
      echoServer((mcp) => {
        mcp.server.setRequestHandler('tools/list', () => ({
          tools: [{ name: 'echo', inputSchema, outputSchema: inputSchema }],
        }))
        mcp.server.setRequestHandler('tools/call', (request) => ({
          content: [],
          structuredContent: { text: String(request.params.arguments?.text) },
        }))
      }),
    )
    await using servers = openServers({ a: server.url })
    await awaitServers(servers)
    assert.equal(findTool(servers, 'mcp__a__echo').input, 'passed')
    const began = performance.now()
    const result = await callServerTool(servers, 'mcp__a__echo', { text: `${'a'.repeat(40)}!` })
    assert.match(textOf(result), /aaaa!/)
    assert.ok(performance.now() - began < 2_000)
  })

  const answering = (type: string, bodyOf: (message: string) => string, result: string) =>
    streamablePeer(
      () => echoServer(),
      (_request, sent) => {
        const { method, id } = (sent ?? {}) as { method?: string; id?: number }
        if (method !== 'tools/call') return undefined
        const message = `{"jsonrpc":"2.0","id":${id},"result":${result}}`
        return new Response(bodyOf(message), { headers: { 'content-type': type } })
      },
    )
  const halves = (message: string) => {
    const at = message.indexOf(':', message.indexOf('"b'))
    return [message.slice(0, at), message.slice(at)]
  }
  const forms: [string, string, (message: string) => string][] = [
    ['as JSON', 'application/json', (message) => message],
    ['in a stream', 'text/event-stream', (message) => `data: ${message}\n\n`],
    [
      'in a stream with odd lines',
      'Text/Event-Stream; charset=utf-8',
      (message) => {
        const [one, other] = halves(message)
        return `\ufeff: "\r\nx: "\rid\r\nid:7\r\ndata:${one}\r\ndata:${other}\r\n\r\n`
      },
    ],
  ]
  for (const [name, type, bodyOf] of forms)
    void it(`is answered ${name} unless its structure would hold the process`, async () => {
      const ask = async (result: string) => {
        await using server = await answering(type, bodyOf, result)
        await using servers = openServers({ a: server.url })
        await awaitServers(servers)
        return await callServerTool(servers, 'mcp__a__echo', { text: 'x' })
      }
      const content = '"content":[{"type":"text","text":"found: \\"it\\""}]'
      const found = await ask(`{"b":1,${content}}`)
      assert.equal(textOf(found), 'found: "it"')
      const long = await ask(`{"${'b'.repeat(20_000)}":1,${content}}`)
      assert.match(textOf(long), /MCP server a .*holds a name of more than 8192 bytes/)
      const many = await ask(`{"b":[${'[],'.repeat(500_000)}[]],${content}}`)
      assert.match(textOf(many), /holds more than 500000 values/)
    })
})
