import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { fitMessage } from './fit-message.ts'
import { callServerTool, httpPeer, openServers, awaitServers, textOf } from './mcp-fixture.ts'
import { validTool, listingPeer, rawAnswers, rawPeer } from './raw-fixture.ts'

// verifies: mcp/streams/paced
void describe('a stream that ends at once and asks to be opened again at once', () => {
  const raw = rawAnswers(({ method }) => (method === 'tools/call' ? again() : undefined))
  const again = (): Response =>
    new Response('retry: 0\nid: 1\ndata:\n\n', {
      headers: { 'content-type': 'text/event-stream' },
    })

  for (const [what, opens] of [
    ['a call', false],
    ['news of the server', true],
  ] as const)
    void it(`is opened again once a second at most: ${what}`, async () => {
      await using server = await httpPeer((request) => {
        const isOpened = opens || request.headers.has('last-event-id')
        return request.method === 'GET' && isOpened ? again() : raw(request)
      })
      await using servers = openServers({ s: server.url }, { callMs: 1_400 })
      await awaitServers(servers)
      if (!opens) await callServerTool(servers, 'mcp__s__one')
      else await setTimeout(1_400)
      const opened = server.seen.filter((word) => word.startsWith('GET')).length
      assert.ok(opened > 0 && opened <= 3, `${opened} times`)
    })
})

void describe('a server that says again and again that its tools have changed', () => {
  // verifies: mcp/streams/paced
  void it('is asked for them once a second at most', async () => {
    let lists = 0
    const raw = rawAnswers(({ method }) => {
      if (method === 'tools/list') lists++
      if (method !== 'initialize') return undefined
      const capabilities = { tools: { listChanged: true } }
      const serverInfo = { name: 'raw', version: '1' }
      return { result: { protocolVersion: '2025-06-18', capabilities, serverInfo } }
    })
    const notice = `data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n\n`
    async function* notices() {
      for (;;) {
        await setTimeout(1)
        yield Buffer.from(notice)
      }
    }
    await using server = await httpPeer((request) =>
      request.method === 'GET'
        ? new Response(ReadableStream.from(notices()), {
            headers: { 'content-type': 'text/event-stream' },
          })
        : raw(request),
    )
    await using servers = openServers({ s: server.url })
    await awaitServers(servers)
    await setTimeout(1_500)
    assert.ok(lists > 1 && lists <= 4, `${lists} lists`)
  })
})

void describe('a server that asks without an end', () => {
  const usual = rawAnswers(() => undefined)
  // verifies: mcp/streams/replies
  void it('is answered 16 times a second, and used', async () => {
    let replies = 0
    const asks = Array.from(
      { length: 2_000 },
      (_, id) => `data: {"jsonrpc":"2.0","id":${id},"method":"ping"}\n\n`,
    )
    await using server = await httpPeer(async (request) => {
      if (request.method === 'GET')
        return new Response(asks.join(''), { headers: { 'content-type': 'text/event-stream' } })
      if ((await request.clone().text()).includes('"method"')) return usual(request)
      replies++
      return new Response(null, { status: 202 })
    })
    await using servers = openServers({ s: server.url })
    await awaitServers(servers)
    while (replies < 16) await setTimeout(10)
    assert.equal(textOf(await callServerTool(servers, 'mcp__s__one')), 'done')
    await setTimeout(200)
    // Some may have come a second later.
    assert.ok(replies <= 64, `${replies} replies`)
  })
})

void describe('servers whose tools grow when their references are resolved', () => {
  // verifies: mcp/tools/room
  void it('have 2 MiB of schemas and of texts together, and what has no room is named or allows any object', async () => {
    const $defs = { d: { type: 'string', description: 'x'.repeat(1_000) } }
    const properties = Object.fromEntries(
      Array.from({ length: 50 }, (_, n) => [`p${n}`, { $ref: '#/$defs/d' }]),
    )
    const inputSchema = { type: 'object', properties, $defs }
    const description = 'y'.repeat(8_000)
    const tools = Array.from({ length: 300 }, (_, n) => ({
      ...{ name: `tool_${String(n).padStart(3, '0')}`, inputSchema, description },
    }))
    await using server = await rawPeer(({ method }) =>
      method === 'tools/list' ? { result: { tools } } : undefined,
    )
    await using servers = openServers({ a: server.url, b: server.url })
    await awaitServers(servers)
    const failures = servers.failures()
    const offered = servers.tools()
    const text = JSON.stringify(
      offered.map((tool) => [tool.name, tool.description, tool.input_schema]),
    )
    assert.ok(text.length < 5 * 1024 * 1024, `${text.length} characters`)
    assert.ok(offered.length > 200 && offered.length < 300)
    assert.deepEqual(offered.at(-1)?.input_schema, { type: 'object', properties: {} })
    assert.match(
      failures.map(({ message }) => message).join('\n'),
      /server a is used in part; left out are 3\d of its 300 tools.*\n.*server b .* 300 of its 300/s,
    )
    assert.equal(servers.tools(), offered)
    assert.deepEqual(servers.failures(), [])
  })
})

void describe('a server that says more than is used', () => {
  void it('has nothing of its greeting kept beside the versions and what it offers', () => {
    const long = 'x'.repeat(1_000_000)
    const serverInfo = { name: long, version: long, title: long }
    const capabilities = { tools: { listChanged: true, more: long }, prompts: {} }
    const result = { protocolVersion: '2025-06-18', capabilities, serverInfo, instructions: long }
    const given = { jsonrpc: '2.0', id: 1, result }
    const kept = JSON.stringify(fitMessage(given, { request: 1, handshake: 1 }))
    assert.ok(kept.length < 1_000, `${kept.length} characters`)
  })

  void it('has no tool whose name nobody can read', async () => {
    const tools = [validTool('one'), validTool('y'.repeat(300))]
    await using server = await listingPeer({ result: { tools } })
    await using servers = openServers({ s: server.url })
    await awaitServers(servers)
    assert.equal(servers.tools().length, 1)
    assert.match(servers.failures()[0]?.message ?? '', /y{80}" \(its name is longer than 256/)
  })
})
