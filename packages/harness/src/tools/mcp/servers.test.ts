import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { runOnce } from '@steward/base/shared-runs.ts'
import { RequestRefused } from '@steward/gate/outbound.ts'
import type { ToolEntry } from '@steward/protocol/tools.ts'
import { resolveTools } from '@steward/protocol/tools.ts'
import { z } from 'zod'
import type { Tool } from '../tool.ts'
import {
  callServerTool,
  echoServer,
  httpPeer,
  modernPeer,
  findTool,
  neverAborted,
  ofEvents,
  openServers,
  awaitServers,
  ssePeer,
  streamableHttp,
  streamablePeer,
  textOf,
} from './mcp-fixture.ts'
import type { McpServers } from './servers.ts'

const silence = () => new Promise<Response>(() => {})
const names = (servers: McpServers) => servers.tools().map(({ name }) => name)

void describe('an MCP server', () => {
  for (const [transport, peer] of Object.entries({
    'streamable HTTP': () => streamablePeer(() => echoServer()),
    'the newest revision alone': () => modernPeer(() => echoServer()),
    'the older transport': () => ssePeer(() => echoServer()),
  })) {
    void it(`is used over ${transport}`, async () => {
      await using server = await peer()
      await using servers = openServers({ files: server.url })
      await awaitServers(servers)
      assert.deepEqual(servers.failures(), [])
      const tool = findTool(servers, 'mcp__files__echo')
      assert.equal(tool.description, 'says it back')
      assert.deepEqual(tool.input_schema.required, ['text'])
      assert.deepEqual(tool.mcp, { server: 'files', tool: 'echo' })
      assert.equal(textOf(await tool.run({ text: 'hello' }, { signal: neverAborted })), 'hello')
    })
  }

  void it('is connected once for several turns, and keeps its tools until they change', async () => {
    await using server = await streamablePeer(() => echoServer())
    await using servers = openServers({ a: server.url })
    await awaitServers(servers)
    const tools = servers.tools()
    servers.begin()
    await awaitServers(servers)
    assert.equal(servers.tools(), tools)
    assert.equal(server.servers.length, 1)
  })

  void it('that is slow to begin has its tools in the first list', async () => {
    const echo = streamableHttp(() => echoServer())
    const delay = runOnce(() => new Promise((resolve) => setTimeout(resolve, 1_200)))
    await using server = await httpPeer(async (request) => {
      await delay()
      return echo.answer(request)
    })
    await using servers = openServers({ slow: server.url })
    await awaitServers(servers)
    assert.deepEqual(names(servers), ['mcp__slow__echo'])
    assert.deepEqual(servers.failures(), [])
  })

  void it('whose tools are known is used at once, and connected again beside', async () => {
    const peer = ofEvents(() => echoServer())
    await using server = await httpPeer(peer)
    const cut = new AbortController()
    let isSilent = false
    const fetchOnce: typeof fetch = (url, init) =>
      isSilent
        ? silence()
        : fetch(url, {
            ...init,
            signal: AbortSignal.any([cut.signal, ...(init?.signal ? [init.signal] : [])]),
          })
    await using servers = openServers(
      {},
      { servers: [{ name: 'known', url: server.url, fetch: fetchOnce }], discoveryMs: 60_000 },
    )
    await awaitServers(servers)
    isSilent = true
    cut.abort()
    await new Promise((resolve) => setTimeout(resolve, 20))
    servers.begin()
    await awaitServers(servers)
    assert.deepEqual(names(servers), ['mcp__known__echo'])
    assert.deepEqual(servers.failures(), [])
  })

  void it('lists its tools over several pages, offered in the order of their names', async () => {
    const pages: Record<string, { name: string; nextCursor?: string }> = {
      '': { name: 'zebra', nextCursor: 'two' },
      two: { name: 'ape', nextCursor: 'three' },
      three: { name: 'mole' },
    }
    const inputSchema = { type: 'object' as const }
    const make = () =>
      echoServer((server) =>
        server.server.setRequestHandler('tools/list', (request) => {
          const { name = '', nextCursor } = pages[request.params?.cursor ?? ''] ?? {}
          return { tools: [{ name, inputSchema }], ...(nextCursor ? { nextCursor } : {}) }
        }),
      )
    await using server = await streamablePeer(make)
    await using servers = openServers({ zoo: server.url })
    await awaitServers(servers)
    assert.deepEqual(names(servers), ['mcp__zoo__ape', 'mcp__zoo__mole', 'mcp__zoo__zebra'])
  })

  void it('may change its tools while a turn runs', async () => {
    await using server = await streamablePeer(() =>
      echoServer((mcp) =>
        mcp.registerTool('grow', { description: 'adds a tool' }, () => {
          mcp.registerTool('grown', { description: 'is new' }, () => ({ content: [] }))
          return { content: [{ type: 'text', text: 'grown' }] }
        }),
      ),
    )
    await using servers = openServers({ a: server.url })
    await awaitServers(servers)
    assert.ok(!names(servers).includes('mcp__a__grown'))
    await callServerTool(servers, 'mcp__a__grow')
    for (let tries = 0; tries < 100 && !names(servers).includes('mcp__a__grown'); tries++) {
      await awaitServers(servers)
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    assert.ok(names(servers).includes('mcp__a__grown'))
  })

  void it('that forgot its session is connected again, once, and the call made', async () => {
    let runs = 0
    await using server = await streamablePeer(() =>
      echoServer((mcp) =>
        mcp.registerTool('count', { description: 'counts' }, () => {
          runs++
          return { content: [{ type: 'text', text: `run ${runs}` }] }
        }),
      ),
    )
    await using servers = openServers({ a: server.url })
    await awaitServers(servers)
    server.forget()
    assert.equal(textOf(await callServerTool(servers, 'mcp__a__count')), 'run 1')
    assert.equal(server.servers.length, 2)
    assert.deepEqual(servers.failures(), [])
  })

  void it('gets no sample, no input and no roots of us', async () => {
    await using server = await streamablePeer(() =>
      echoServer((mcp) =>
        mcp.registerTool('ask', { description: 'asks back' }, async () => {
          const params = { messages: [], maxTokens: 1 }
          const asked = await mcp.server.createMessage(params).then(
            () => 'got a sample',
            () => 'was refused',
          )
          return { content: [{ type: 'text', text: asked }] }
        }),
      ),
    )
    await using servers = openServers({ a: server.url })
    await awaitServers(servers)
    assert.equal(textOf(await callServerTool(servers, 'mcp__a__ask')), 'was refused')
  })
})

void describe('an MCP server that fails', () => {
  void it('is reported by name and kind, once, and tried again when the next turn begins', async () => {
    const statuses = { shut: 401, forbidden: 403, broken: 500, gone: 404 }
    const peers = await Promise.all(
      Object.entries(statuses).map(async ([name, status]) => {
        const peer = await httpPeer(() => new Response('no', { status }))
        return [name, peer] as const
      }),
    )
    await using servers = openServers(
      Object.fromEntries(peers.map(([name, { url }]) => [name, url])),
    )
    await awaitServers(servers)
    const failures = servers.failures().toSorted((a, b) => (a.server < b.server ? -1 : 1))
    assert.deepEqual(
      failures.map(({ server, type }) => [server, type]),
      [
        ['broken', 'mcp_connection_failed_error'],
        ['forbidden', 'mcp_authentication_failed_error'],
        ['gone', 'mcp_connection_failed_error'],
        ['shut', 'mcp_authentication_failed_error'],
      ],
    )
    assert.match(failures.at(-1)?.message ?? '', /MCP server shut .*401/)
    assert.deepEqual(servers.failures(), [])
    servers.begin()
    await awaitServers(servers)
    assert.equal(servers.failures().length, 4)
    for (const [, peer] of peers) await peer[Symbol.asyncDispose]()
  })

  void it('because egress refuses its host says why', async () => {
    const target = { host: 'files.test', port: 443 }
    const why = { reason: 'not_allowed' as const, message: 'not listed' }
    const refused = () => Promise.reject(new RequestRefused({ ...target, ...why }))
    const server = { name: 'a', url: 'https://files.test/mcp', fetch: refused }
    await using servers = openServers({}, { servers: [server] })
    await awaitServers(servers)
    const [failure] = servers.failures()
    assert.equal(failure?.type, 'mcp_connection_failed_error')
    assert.match(failure.message, /not listed/)
  })

  void it('is waited for as long as discovery may take, beside the others, and reported then', async () => {
    await using hanging = await httpPeer(silence)
    const peers = await Promise.all(
      Array.from({ length: 19 }, () => streamablePeer(() => echoServer())),
    )
    const urls = Object.fromEntries(peers.map(({ url }, index) => [`s${index}`, url]))
    const sleeps: { ms: number; end: () => void }[] = []
    const sleep = (ms: number, signal: AbortSignal) =>
      new Promise<void>((resolve) => {
        sleeps.push({ ms, end: resolve })
        signal.addEventListener('abort', () => resolve(), { once: true })
      })
    await using servers = openServers(
      { hanging: hanging.url, ...urls },
      { discoveryMs: 15_000, sleep },
    )
    const isReady = { yet: false }
    const waited = awaitServers(servers).then(() => (isReady.yet = true))
    while (servers.tools().length < 19) await new Promise((resolve) => setTimeout(resolve, 5))
    assert.equal(isReady.yet, false)
    assert.deepEqual(new Set(sleeps.map(({ ms }) => ms)), new Set([15_000]))
    sleeps[0]?.end()
    await waited
    const [failure, ...others] = servers.failures()
    assert.deepEqual([failure?.server, failure?.type], ['hanging', 'mcp_connection_failed_error'])
    assert.match(failure?.message ?? '', /did not answer within 15000 ms/)
    assert.deepEqual(others, [])
    for (const peer of peers) await peer[Symbol.asyncDispose]()
  })

  void it('in the middle of a call ends the call with words that say so', async () => {
    await using server = await streamablePeer(
      () => echoServer(),
      (_request, message) => {
        const { method, id } = (message ?? {}) as { method?: string; id?: number }
        if (method !== 'tools/call') return undefined
        assert.ok(id)
        const body = new ReadableStream({
          start(controller) {
            controller.enqueue(Buffer.from(': working\n\n'))
            setTimeout(() => controller.error(new Error('crash')), 20)
          },
        })
        return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
      },
    )
    await using servers = openServers({ a: server.url })
    await awaitServers(servers)
    const result = await callServerTool(servers, 'mcp__a__echo', { text: 'x' })
    assert.equal(result.is_error, true)
    assert.match(textOf(result), /MCP server a .*connection ended.*may have run/)
    assert.equal(servers.failures()[0]?.type, 'mcp_connection_failed_error')
  })

  void it('and is closed when it is called is an error result, with nothing run', async () => {
    const server = await ssePeer(() => echoServer())
    await using servers = openServers({ a: server.url })
    await awaitServers(servers)
    const tool = findTool(servers, 'mcp__a__echo')
    await server[Symbol.asyncDispose]()
    const result = await tool.run({ text: 'x' }, { signal: neverAborted })
    assert.equal(result.is_error, true)
    assert.match(textOf(result), /MCP server a/)
  })
})

void describe('the tools of an MCP server', () => {
  const three = () =>
    echoServer((mcp) => {
      const no = () => ({ content: [] })
      mcp.registerTool('look', { annotations: { readOnlyHint: true } }, no)
      mcp.registerTool('put', { annotations: { idempotentHint: true } }, no)
      mcp.registerTool('add', { inputSchema: z.object({}) }, no)
    })
  const offer = async (entries: ToolEntry[]) => {
    await using server = await streamablePeer(three)
    await using servers = openServers({ a: server.url }, { entries: resolveTools(entries) })
    await awaitServers(servers)
    return servers.tools()
  }
  const permissions = (tools: readonly Tool[]) =>
    tools.map(({ mcp, permission }) => `${mcp?.tool} ${permission}`)

  void it('are all allowed when no toolset names it, and ask when one does', async () => {
    assert.deepEqual(permissions(await offer([])), [
      'add allow',
      'echo allow',
      'look allow',
      'put allow',
    ])
    const set = { type: 'mcp_toolset' as const, mcp_server_name: 'a' }
    assert.deepEqual(permissions(await offer([set])), [
      'add ask',
      'echo ask',
      'look ask',
      'put ask',
    ])
    assert.deepEqual(permissions(await offer([{ ...set, mcp_server_name: 'b' }])).length, 4)
  })

  void it('are those the toolset enables, by the names the server gave', async () => {
    const tools = await offer([
      {
        type: 'mcp_toolset',
        mcp_server_name: 'a',
        default_config: { enabled: false },
        configs: [
          { name: 'look', enabled: true, permission_policy: { type: 'always_allow' } },
          { name: 'put', enabled: true },
        ],
      },
    ])
    assert.deepEqual(permissions(tools), ['look allow', 'put ask'])
  })

  void it('are repeated after a crash only where the server calls them repeatable', async () => {
    const tools = await offer([])
    assert.deepEqual(
      tools.map(({ mcp, repeat }) => `${mcp?.tool} ${repeat}`),
      ['add never', 'echo never', 'look safe', 'put safe'],
    )
  })
})

void it('closes every connection', async () => {
  await using server = await streamablePeer(() => echoServer())
  const servers = openServers({ a: server.url })
  await awaitServers(servers)
  await servers.close()
  assert.ok(server.seen.includes('DELETE /mcp'))
  const result = await callServerTool(servers, 'mcp__a__echo', { text: 'x' })
  assert.equal(result.is_error, true)
  servers.begin()
  assert.equal(server.servers.length, 1)
})

void it('has no tools and no failures without servers', async () => {
  const servers = openServers({})
  await awaitServers(servers)
  assert.deepEqual([servers.tools(), servers.failures()], [[], []])
})
