import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { callServerTool, openServers, awaitServers, textOf } from './mcp-fixture.ts'
import { callingPeer, validTool, listingPeer, rawPeer } from './raw-fixture.ts'
import type { McpServers } from './servers.ts'

const names = (servers: McpServers) => servers.tools().map(({ mcp }) => mcp?.tool)

void describe('a list of tools with an odd entry', () => {
  const odd = (more: object) => ({ ...validTool('odd'), ...more })
  const object = { type: 'object', properties: {} }
  const usable: Record<string, object> = {
    'a bare union': odd({ inputSchema: { anyOf: [object, object] } }),
    'inputSchema null': odd({ inputSchema: null }),
    'no inputSchema': { name: 'odd' },
    'outputSchema null': odd({ outputSchema: null }),
    'outputSchema without a type': odd({ outputSchema: { properties: {} } }),
    'annotations null': odd({ annotations: null }),
    'annotations.title null': odd({ annotations: { title: null } }),
    'title null': odd({ title: null }),
    'description null': odd({ description: null }),
    'icons null': odd({ icons: null }),
    'icons a text': odd({ icons: 'x' }),
    'execution null': odd({ execution: null }),
    '_meta null': odd({ _meta: null }),
    '_meta a number': odd({ _meta: 5 }),
    'required null': odd({ inputSchema: { ...object, required: null } }),
    'properties null': odd({ inputSchema: { type: 'object', properties: null } }),
    'a type of two': odd({ inputSchema: { type: ['object', 'null'] } }),
  }
  for (const [what, entry] of Object.entries(usable))
    void it(`keeps all its tools: ${what}`, async () => {
      await using server = await listingPeer({
        result: { tools: [validTool('a'), entry, validTool('b')] },
      })
      await using servers = openServers({ s: server.url })
      await awaitServers(servers)
      assert.deepEqual(names(servers), ['a', 'b', 'odd'])
      assert.deepEqual(servers.failures(), [])
    })

  const unusable: Record<string, [unknown, RegExp]> = {
    'a schema of a text': [odd({ inputSchema: { type: 'string' } }), /"odd" \(its inputSchema/],
    'a schema that is none': [odd({ inputSchema: 'x' }), /"odd" \(its inputSchema/],
    'no name': [{ inputSchema: object }, /entry 2 \(it has no name\)/],
    null: [null, /entry 2 \(it is no object\)/],
    'a name twice': [validTool('a'), /"a" \(it is listed again\)/],
  }
  for (const [what, [entry, why]] of Object.entries(unusable))
    void it(`keeps the others and names the omitted ones: ${what}`, async () => {
      await using server = await listingPeer({
        result: { tools: [validTool('a'), entry, validTool('b')] },
      })
      await using servers = openServers({ s: server.url })
      await awaitServers(servers)
      assert.deepEqual(names(servers), ['a', 'b'])
      const [failure, ...others] = servers.failures()
      assert.match(failure?.message ?? '', why)
      assert.deepEqual(others, [])
    })

  void it('keeps a tool whose description is no text, and says so', async () => {
    await using server = await listingPeer({ result: { tools: [odd({ description: 5 })] } })
    await using servers = openServers({ s: server.url })
    await awaitServers(servers)
    assert.deepEqual(names(servers), ['odd'])
    assert.match(servers.failures()[0]?.message ?? '', /the description of "odd"/)
  })

  const whole: Record<string, object> = {
    'nextCursor null': { result: { tools: [validTool('a')], nextCursor: null } },
    'error null': { result: { tools: [validTool('a')] }, error: null },
    '_meta null': { result: { tools: [validTool('a')], _meta: null } },
    '_meta odd': { result: { tools: [validTool('a')], _meta: { progressToken: {} } } },
    'an older word for the protocol': { jsonrpc: '1.0', result: { tools: [validTool('a')] } },
    'more members': { result: { tools: [validTool('a')] }, more: 1 },
  }
  for (const [what, answer] of Object.entries(whole))
    void it(`is read where the answer is odd: ${what}`, async () => {
      await using server = await listingPeer(answer)
      await using servers = openServers({ s: server.url })
      await awaitServers(servers)
      assert.deepEqual(servers.failures(), [])
      assert.deepEqual(names(servers), ['a'])
    })

  void it('is empty where a server writes null for no tools', async () => {
    await using server = await listingPeer({ result: { tools: null } })
    await using servers = openServers({ s: server.url })
    await awaitServers(servers)
    assert.deepEqual([names(servers), servers.failures()], [[], []])
  })

  void it('keeps the pages that came when a later one fails', async () => {
    await using server = await rawPeer(({ method, params }) => {
      if (method !== 'tools/list') return undefined
      return params?.cursor
        ? { error: { code: 'E_PAGE', message: 'no such page' } }
        : { result: { tools: [validTool('a')], nextCursor: 2 } }
    })
    await using servers = openServers({ s: server.url })
    await awaitServers(servers)
    assert.deepEqual(names(servers), ['a'])
    assert.match(servers.failures()[0]?.message ?? '', /behind page 1 \(no such page\)/)
  })

  void it('ends where a cursor leads back to its page, and after 64 pages', async () => {
    let asked = 0
    await using stuck = await rawPeer(({ method }) => {
      if (method !== 'tools/list') return undefined
      asked++
      return { result: { tools: [validTool('a')], nextCursor: 'x' } }
    })
    await using endless = await rawPeer(({ method, params }) => {
      if (method !== 'tools/list') return undefined
      const page = Number(params?.cursor ?? 1)
      return { result: { tools: [validTool(`t${page}`)], nextCursor: String(page + 1) } }
    })
    await using servers = openServers({ stuck: stuck.url, endless: endless.url })
    await awaitServers(servers)
    assert.ok(asked <= 3)
    assert.equal(names(servers).length, 1 + 64)
    assert.match(servers.failures()[0]?.message ?? '', /endless .*behind page 64/)
  })

  void it('asks for no page that nobody would use', async () => {
    const asked = { full: 0, long: 0 }
    const page = (which: keyof typeof asked, tools: object[]) =>
      rawPeer(({ method }) =>
        method === 'tools/list'
          ? { result: { tools, nextCursor: String(++asked[which]) } }
          : undefined,
      )
    const tools = Array.from({ length: 600 }, (_, at) => validTool(`t${at}`))
    const description = 'x'.repeat(5_000_000)
    await using full = await page('full', tools)
    await using long = await page('long', [{ ...validTool('a'), description }])
    await using servers = openServers({ full: full.url, long: long.url })
    await awaitServers(servers)
    assert.deepEqual(asked, { full: 1, long: 2 })
    assert.equal(names(servers).length, 500 + 1)
    const said = servers.failures().map(({ message }) => message)
    assert.match(said[0] ?? '', /full .*100 of its 600 tools, what stands behind page 1/)
    assert.match(said[1] ?? '', /long .*what stands behind page 2/)
  })

  void it('keeps no more of a list than a model could take', async () => {
    const [wide] = [{ type: 'object', description: 'x'.repeat(200_000) }]
    const tools = Array.from({ length: 30 }, (_, at) => ({ name: `t${at}`, inputSchema: wide }))
    tools.push({ name: 'wider', inputSchema: { ...wide, description: 'x'.repeat(300_000) } })
    await using server = await listingPeer({ result: { tools } })
    await using servers = openServers({ s: server.url })
    await awaitServers(servers)
    assert.equal(names(servers).length, 20 + 1)
    assert.match(servers.failures()[0]?.message ?? '', /"t20" \(the tools before it are too long\)/)
  })
})

void describe('a stream of an MCP server that is to answer a call', () => {
  void it('is given up beyond 64 MiB, whatever it consists of', async () => {
    async function* comments() {
      for (;;) yield Buffer.from(`: ${'x'.repeat(1024 * 1024)}\n\n`)
    }
    const headers = { 'content-type': 'text/event-stream' }
    await using server = await callingPeer(
      new Response(ReadableStream.from(comments()), { headers }),
    )
    await using servers = openServers({ s: server.url })
    await awaitServers(servers)
    const result = await callServerTool(servers, 'mcp__s__one')
    assert.match(textOf(result), /larger than 67108864 bytes/)
  })
})

void describe('an MCP server', () => {
  const begin = (result: object) =>
    rawPeer(({ method, params }) =>
      method === 'initialize'
        ? { result: { protocolVersion: params?.protocolVersion, ...result } }
        : undefined,
    )

  for (const [what, result] of Object.entries({
    'with null for what it has not': {
      capabilities: { tools: null, logging: null, prompts: null },
      serverInfo: { name: 'x', version: null, title: null },
      instructions: null,
      _meta: null,
    },
    'with true for tools': { capabilities: { tools: true }, serverInfo: { name: 'x' } },
    'without a name': { capabilities: { tools: {} } },
  }))
    void it(`is used: ${what}`, async () => {
      await using server = await begin(result)
      await using servers = openServers({ s: server.url })
      await awaitServers(servers)
      assert.deepEqual(servers.failures(), [])
      assert.deepEqual(names(servers), ['one', 'two'])
    })

  void it('without tools says so', async () => {
    await using server = await rawPeer(({ method, params }) => {
      const { protocolVersion } = params ?? {}
      const serverInfo = { name: 'x', version: '1' }
      if (method === 'initialize')
        return { result: { protocolVersion, capabilities: { prompts: {} }, serverInfo } }
      return { error: { code: -32_601, message: 'there is no such method' } }
    })
    await using servers = openServers({ s: server.url })
    await awaitServers(servers)
    assert.match(servers.failures()[0]?.message ?? '', /MCP server s .*announces no/)
  })

  for (const status of [401, 403, 503])
    void it(`that reports a lost session by ${status} gets a new session for the next call`, async () => {
      let sessions = 0
      let isLost = false
      await using server = await rawPeer(
        ({ method, session }) => {
          if (method !== 'tools/call') return undefined
          return isLost && session === '1' ? new Response('lost', { status }) : undefined
        },
        () => String(++sessions),
      )
      await using servers = openServers({ s: server.url })
      await awaitServers(servers)
      isLost = true
      assert.equal((await callServerTool(servers, 'mcp__s__one')).is_error, true)
      assert.equal(textOf(await callServerTool(servers, 'mcp__s__one')), 'done')
      assert.equal(sessions, 2)
    })
})

void describe('the result of a call with an odd part', () => {
  const png = Buffer.from('not really').toString('base64')
  const said = { type: 'text', text: 'beside' }
  const image = { type: 'image', mimeType: 'image/png' }
  const results: Record<string, [object, string | RegExp]> = {
    'a block that is not known': [
      { content: [said, { type: 'hologram', depth: 3 }] },
      /^beside\n\[a block of type "hologram" left out: it cannot be shown\]$/,
    ],
    'a block that is not known, with a text': [
      { content: [said, { type: 'note', text: 'noted' }] },
      'beside\nnoted',
    ],
    'a text null': [{ content: [{ type: 'text', text: null }, said] }, /left out.*\nbeside$/],
    'a text that is a number': [{ content: [{ type: 'text', text: 7 }, said] }, '7\nbeside'],
    'a block null': [{ content: [null, said] }, /left out.*\nbeside$/],
    'a block that is a text': [{ content: ['plain', said] }, 'plain\nbeside'],
    'an image as a data URL': [
      { content: [{ type: 'image', data: `data:image/png;base64,${png}` }, said] },
      '<image>\nbeside',
    ],
    'an image in the alphabet of URLs': [
      { content: [{ ...image, data: '-_-_' }, said] },
      '<image>\nbeside',
    ],
    'an image that is none': [{ content: [{ ...image, data: '**' }, said] }, /cannot.*\nbeside$/],
    'an image without data': [{ content: [image, said] }, /it holds nothing\]\nbeside$/],
    'annotations null': [{ content: [{ ...said, annotations: null, _meta: 5 }] }, 'beside'],
    'a resource without a text': [
      { content: [{ type: 'resource', resource: { uri: 'x:1', text: null } }, said] },
      /left out.*\nbeside$/,
    ],
    'a link with nulls': [
      { content: [{ type: 'resource_link', uri: 'x:1', name: null, mimeType: null }] },
      /x:1/,
    ],
    'content that is a text': [{ content: 'beside' }, 'beside'],
    'content that is one block': [{ content: said }, 'beside'],
    'content null': [{ content: null, structuredContent: { a: 1 } }, /"a": 1/],
    'the member of the first revision': [{ toolResult: { a: 1 } }, /"a": 1/],
    'structuredContent null, isError null': [
      { content: [said], structuredContent: null, isError: null },
      'beside',
    ],
  }
  for (const [what, [result, text]] of Object.entries(results))
    void it(`keeps the text beside it: ${what}`, async () => {
      await using server = await callingPeer({ result })
      await using servers = openServers({ s: server.url })
      await awaitServers(servers)
      const found = await callServerTool(servers, 'mcp__s__one')
      assert.equal(found.is_error, false)
      if (typeof text === 'string') assert.equal(textOf(found), text)
      else assert.match(textOf(found), text)
    })

  void it('is an error with its words where the error is odd', async () => {
    for (const error of ['boom', { message: 'boom' }, { code: 'E', message: 'boom', data: null }]) {
      await using server = await callingPeer({ error, result: null })
      await using servers = openServers({ s: server.url })
      await awaitServers(servers)
      const found = await callServerTool(servers, 'mcp__s__one')
      assert.equal(found.is_error, true)
      assert.match(textOf(found), /answered with an error: boom/)
    }
  })
})

void describe('a call whose answer ends without its id', () => {
  const events = (text: string) =>
    new Response(text, { headers: { 'content-type': 'text/event-stream' } })
  const answers: Record<string, [() => Response | object, RegExp]> = {
    'an answer to another': [() => ({ id: 99, result: {} }), /another request/],
    'a word of acceptance': [() => new Response(null, { status: 202 }), /gave no answer.*202/],
    'a list without it': [() => Response.json([]), /another request/],
    'what is no JSON': [
      () => new Response('<html>', { headers: { 'content-type': 'application/json' } }),
      /no JSON/,
    ],
    'a stream that could be resumed': [() => events('id: 1\ndata:\n\n'), /connection ended/],
    'a result that is none': [() => ({ result: 5 }), /neither a result/],
  }
  for (const [what, [answer, why]] of Object.entries(answers))
    void it(`is an error at once: ${what}`, async () => {
      await using server = await rawPeer(({ method }) =>
        method === 'tools/call' ? answer() : undefined,
      )
      await using servers = openServers({ s: server.url })
      await awaitServers(servers)
      const begun = performance.now()
      const found = await callServerTool(servers, 'mcp__s__one')
      assert.equal(found.is_error, true)
      assert.match(textOf(found), why)
      assert.ok(performance.now() - begun < 5_000)
    })

  void it('but is read if it omits its id, or writes it as a text', async () => {
    for (const id of [null, undefined, 'as a text']) {
      await using server = await rawPeer((request) => {
        if (request.method !== 'tools/call') return undefined
        const result = { content: [{ type: 'text', text: 'here' }] }
        return { id: id === 'as a text' ? String(request.id) : id, result }
      })
      await using servers = openServers({ s: server.url })
      await awaitServers(servers)
      assert.equal(textOf(await callServerTool(servers, 'mcp__s__one')), 'here')
    }
  })

  void it('is read from a stream whose last event has no end', async () => {
    await using server = await rawPeer(({ id, method }) =>
      method === 'tools/call'
        ? events(`data: {"id":${id},"error":null,\ndata: "result":{"content":["here"]}}`)
        : undefined,
    )
    await using servers = openServers({ s: server.url })
    await awaitServers(servers)
    assert.equal(textOf(await callServerTool(servers, 'mcp__s__one')), 'here')
  })
})
