import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import type { StdioServer } from '@steward/protocol/stdio-servers.ts'
import { StdioReport } from '@steward/protocol/stdio-servers.ts'
import { bubblewrapSandboxes } from '@steward/sandbox/bubblewrap/bubblewrap.ts'
import { until } from '@steward/sandbox/fixture.ts'
import type { Sandbox } from '@steward/sandbox/sandbox.ts'
import { declaredServer, writeServer } from './server-fixture.ts'
import { createStdioServers } from './servers.ts'

const mebibyte = 1 << 20

describe('stdio servers of a session', () => {
  const folder = mkdtempSync(join(tmpdir(), 'steward-stdio-'))
  const reports: StdioServer[][] = []
  let sandbox: Sandbox
  let client: Anthropic
  const service = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (piece: string) => (text += piece))
    request.on('end', () => {
      reports.push(StdioReport.parse(JSON.parse(text)).servers)
      response.writeHead(204).end()
    })
  })

  before(async () => {
    const [workspace, outputs] = [join(folder, 'workspace'), join(folder, 'outputs')]
    for (const each of [workspace, outputs]) mkdirSync(each)
    await writeServer(workspace)
    sandbox = await bubblewrapSandboxes().acquire({
      ...{ id: `sesn_stdio${process.pid}`, workspace, outputs, isPrefilled: true },
      ...{ env: {}, egress: null, mounts: [] },
      limits: {
        memory: 1024 * mebibyte,
        processes: 256,
        cpus: 2,
        scratch: 64 * mebibyte,
        file: 1024 * mebibyte,
      },
    })
    await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve))
    const { port } = service.address() as AddressInfo
    const baseURL = `http://127.0.0.1:${port}`
    client = new Anthropic({ baseURL, apiKey: null, authToken: 'token' })
  })
  after(async () => {
    await sandbox.close()
    service.closeAllConnections()
    service.close()
    rmSync(folder, { recursive: true, force: true })
  })

  /** With a server that ends while its port stays taken. */
  async function programs(): Promise<number> {
    const held = '(exec 3<>/dev/tcp/127.0.0.1/4001) 2>/dev/null && let n++'
    const script = `n=$(pgrep -cf [p]rogram-fixture); ${held}; echo $n`
    return Number((await sandbox.aside({ script, arguments: [], timeoutMs: 5_000 })).output)
  }

  /** The reports about the servers, and calls of their tools. */
  async function begun(...servers: object[]) {
    const closed = new AbortController()
    const before = await programs()
    reports.length = 0
    const session = { id: 'sesn_1', agent: { mcp_servers: servers } }
    const own = createStdioServers({
      ...{ client, session: session as never },
      ...{ open: () => Promise.resolve(sandbox), closed: closed.signal, came: () => {} },
    })
    const tools = await own.begin()
    return {
      said: reports[0] ?? [],
      names: tools.map(({ name }) => name),
      async call(name: string, input: object = {}): Promise<string> {
        const tool = tools.find((each) => each.name === name)
        assert.ok(tool, name)
        const { signal } = new AbortController()
        const { content, is_error } = await tool.run({ ...input }, { signal })
        const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('')
        return is_error ? `error: ${text}` : text
      },
      async [Symbol.asyncDispose]() {
        closed.abort()
        for (;;) {
          if ((await programs()) <= before) return
        }
      },
    }
  }

  it('are started with their variables, listed, and called by the names that the model knows', async () => {
    await using one = await begun(declaredServer('local', 4001, { TOKEN: 'a secret of it' }))
    const [told] = one.said
    assert.equal(told?.error, null)
    const echo = told?.tools?.find(({ name }) => name === 'echo')
    assert.equal(echo?.description, 'does echo')
    assert.deepEqual(echo?.input_schema['required'], ['text'])
    assert.ok(one.names.includes('mcp__local__echo'))
    assert.equal(await one.call('mcp__local__echo', { text: 'a\n"b"' }), 'a\n"b"')
    assert.match(await one.call('mcp__local__process'), /^\d+ 14$/)
    assert.match(await one.call('mcp__local__echo', { text: 1 }), /^error: .*text/s)
  })

  it('run calls side by side, and beside the shell of the session', async () => {
    await using one = await begun(declaredServer('local', 4001))
    const shell = sandbox.shell({ command: 'sleep 3; echo shell', timeoutMs: 20_000 })
    const started = performance.now()
    const slow = [1, 2, 3].map(() => one.call('mcp__local__slow', { ms: 1_000 }))
    assert.deepEqual(await Promise.all(slow), ['late', 'late', 'late'])
    assert.ok(performance.now() - started < 2_900)
    assert.equal((await shell).output, 'shell\n')
  })

  it('are found at the root where they answer there, and long results are bounded', async () => {
    await using one = await begun(declaredServer('local', 4001, { AT: '/' }))
    assert.equal(await one.call('mcp__local__echo', { text: 'here' }), 'here')
    const long = await one.call('mcp__local__long', { length: 300_000 })
    assert.match(long, /292000 characters left out.*the whole is in \/workspace\/.steward/s)
  })

  it('that die in mid call end that call with an error, are reported, and start again for the next call', async () => {
    await using one = await begun(declaredServer('local', 4001))
    const first = await one.call('mcp__local__process')
    assert.match(await one.call('mcp__local__die'), /^error: the MCP server local did not answer/)
    await until('it is told', () => reports.length === 2)
    const [again] = reports.at(-1) ?? []
    assert.match(again?.error ?? '', /the MCP server local cannot be used/)
    assert.deepEqual(again?.tools, one.said[0]?.tools)
    const second = await one.call('mcp__local__process')
    assert.match(second, /^\d+ 0$/)
    assert.notEqual(second, first)
    await sandbox.restartShell()
    assert.match(await one.call('mcp__local__process'), /^\d+ 0$/)
  })

  it('that never listen, end, find their port taken or have too much to list are reported, beside servers that are well', async () => {
    const token = 'a secret of it'
    const slow = declaredServer('never', 4002, { MOOD: 'never' })
    const none = declaredServer('none', 4004)
    await using one = await begun(
      declaredServer('local', 4001),
      { ...slow, stdio: { ...slow.stdio, ready_timeout_ms: 700 } },
      declaredServer('ends', 4003, { MOOD: 'ends', TOKEN: token }),
      { ...none, stdio: { ...none.stdio, command: 'no-such-program' } },
      declaredServer('many', 4005, { MANY: '200' }),
    )
    const errors = one.said.map(({ name, tools, error }) => [name, tools === null, error ?? ''])
    const expected: [string, boolean, RegExp][] = [
      ['local', false, /^$/],
      ['never', true, /700 ms went by before it listened on 127.0.0.1:4002/],
      ['ends', true, /it ended before it listened .* \(exit 4\): it has no use for \*+$/],
      ['none', true, /\(exit 127\): .*no-such-program: not found/],
      ['many', true, /list of tools is too large/],
    ]
    for (const [index, [name, isDown, why]] of expected.entries()) {
      assert.deepEqual(errors[index]?.slice(0, 2), [name, isDown])
      assert.match(String(errors[index]?.[2]), why)
    }
    assert.ok(one.names.every((name) => name.startsWith('mcp__local__')))
    assert.equal(await one.call('mcp__local__echo', { text: 'well' }), 'well')

    await using other = await begun(declaredServer('other', 4001))
    assert.match(other.said[0]?.error ?? '', /port 4001 is taken/)
    assert.deepEqual(other.names, [])
  })

  it('lose a tool that the service would not take for the depth of its schema, and no other', async () => {
    await using one = await begun(declaredServer('local', 4001, { DEEP: '150' }))
    assert.ok(one.names.includes('mcp__local__echo'))
    assert.ok(!one.names.includes('mcp__local__deep'))
    assert.ok(one.said[0]?.tools?.every(({ name }) => name !== 'deep'))
    assert.match(one.said[0]?.error ?? '', /used in part; .* too large of "deep"$/)
  })
})
