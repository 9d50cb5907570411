/** Custom tools that the service runs, and the secrets of a command, on real sockets and a real sandbox. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { RequestRefused } from '@steward/gate/outbound.ts'
import type { CustomTool } from '@steward/protocol/tools.ts'
import type { Sandbox } from '@steward/sandbox/sandbox.ts'
import { shutEgress } from '../fixture.ts'
import { quoteWord } from '@steward/sandbox/quote-word.ts'
import type { GuardedFetch } from './fetch.ts'
import type { TestPeer } from './mcp/mcp-fixture.ts'
import { httpPeer } from './mcp/mcp-fixture.ts'
import { openSandbox, say } from './sandbox-fixture.ts'
import type { Tool, ToolResult } from './tool.ts'
import type { ToolDeps } from './toolset.ts'
import { buildTools } from './toolset.ts'

const never = new AbortController().signal
const textOf = ({ content }: ToolResult): string =>
  content.map((block) => (block.type === 'text' ? block.text : `<${block.type}>`)).join('\n')

function custom(execution: CustomTool['execution'], deps: Partial<ToolDeps>): Tool {
  const entry = {
    ...{ type: 'custom' as const, name: 'mine', description: 'mine', execution },
    input_schema: { type: 'object' as const },
  }
  const sandbox = () => Promise.reject(new Error('no sandbox is needed'))
  const [tool] = buildTools([entry], { ...shutEgress, sandbox, ...deps })
  assert.ok(tool)
  return tool
}

void describe('a custom tool that calls an endpoint', () => {
  let peer: TestPeer
  let answer: (request: Request) => Response | Promise<Response>
  const outbound: GuardedFetch = (url, init) => {
    const { pathname, search } = new URL(url)
    return fetch(new URL(`${pathname}${search}`, peer.url), init)
  }
  before(async () => {
    peer = await httpPeer((request) => answer(request))
  })
  after(() => peer[Symbol.asyncDispose]())
  const run = (method: string | undefined, input: Record<string, unknown>, deps = { outbound }) =>
    custom(
      { type: 'http', endpoint: 'https://api.test/v1?key=1', ...(method ? { method } : {}) },
      deps,
    ).run(input, { signal: never })

  void it('posts its input as JSON, and its result is what comes back', async () => {
    let seen: unknown
    answer = async (request) => {
      const { method, headers } = request
      seen = [
        method,
        new URL(request.url).search,
        headers.get('content-type'),
        await request.json(),
      ]
      return Response.json({ ok: true })
    }
    const result = await run(undefined, { a: [1], b: 'x' })
    assert.deepEqual(seen, ['POST', '?key=1', 'application/json', { a: [1], b: 'x' }])
    assert.deepEqual([textOf(result), result.is_error], ['{"ok":true}', false])
  })

  void it('puts its input into the query where the method has no body, and may be repeated then', async () => {
    let seen = ''
    answer = (request) => {
      seen = `${request.method} ${new URL(request.url).search}`
      return new Response('fine')
    }
    await run('get', { q: 'a b&c', n: 1, list: [1, 2] })
    assert.equal(seen, 'GET ?key=1&q=a+b%26c&n=1&list=%5B1%2C2%5D')
    const endpoint = 'https://api.test'
    const repeats = ['GET', 'POST', 'DELETE'].map(
      (method) => custom({ type: 'http', endpoint, method }, {}).repeat,
    )
    assert.deepEqual(repeats, ['safe', 'never', 'never'])
  })

  void it('is answered with an error result by every status from 300 on', async () => {
    answer = () => new Response('no such order', { status: 404 })
    const missing = await run('PUT', {})
    assert.deepEqual([textOf(missing), missing.is_error], ['HTTP 404\nno such order', true])
    answer = () => new Response(null, { status: 302, headers: { location: 'https://evil.test/' } })
    assert.match(
      textOf(await run(undefined, {})),
      /HTTP 302 to https:\/\/evil.test\/; .*not followed/,
    )
    answer = () => new Response(null, { status: 204 })
    assert.deepEqual(textOf(await run(undefined, {})), '(no content)')
  })

  void it('bounds what comes back, and names what no model can read', async () => {
    answer = () =>
      new Response('x'.repeat(11 * 1024 * 1024), { headers: { 'content-type': 'text/x' } })
    const long = custom(
      { type: 'http', endpoint: 'https://api.test' },
      { outbound, sandbox: () => Promise.reject(new Error('asked for')) },
    )
    await assert.rejects(long.run({}, { signal: never }), /asked for/)
    const headers = { 'content-type': 'application/octet-stream' }
    answer = () => new Response(Buffer.from([0, 1, 2]), { headers })
    assert.match(textOf(await run(undefined, {})), /application\/octet-stream, 3 bytes/)
  })

  void it('says why nothing was sent', async () => {
    const refusal = { host: 'api.test', port: 443, reason: 'vault' as const, message: 'no vault' }
    const refused = () => Promise.reject(new RequestRefused(refusal))
    const result = await run(undefined, {}, { outbound: refused })
    assert.equal(result.is_error, true)
    assert.match(textOf(result), /could not be called: egress denied: api.test \(vault: no vault\)/)
  })

  void it('is outside of permission policies, and no person answers it', () => {
    const tool = custom({ type: 'http', endpoint: 'https://api.test' }, {})
    assert.deepEqual([tool.runs, tool.permission, tool.input], ['here', 'allow', 'passed'])
    assert.equal(custom(null, {}).runs, 'client')
  })
})

void describe('a custom tool that runs a command', () => {
  let setup: Awaited<ReturnType<typeof openSandbox>>
  let sandbox: Sandbox
  before(async () => {
    setup = await openSandbox()
    sandbox = setup.sandbox
  })
  after(() => setup[Symbol.asyncDispose]())
  const run = (command: string, input: Record<string, unknown>) =>
    custom({ type: 'sandbox', command }, { sandbox: async () => sandbox }).run(input, {
      signal: never,
    })

  void it('gives it the input as JSON on standard input, whatever that holds', async () => {
    const input = {
      text: `it's "quoteWord" $(touch /workspace/pwned) \`id\` ; & | > < \\ ! * ~ \n \u2028 ü 🙂 \u0000`,
      "k'ey": "'; touch /workspace/pwned; '",
    }
    const result = await run('cat', input)
    assert.deepEqual(JSON.parse(textOf(result)), input)
    assert.equal(await say(sandbox, 'ls /workspace'), '')
    const large = { text: 'x'.repeat(300_000) }
    assert.equal(textOf(await run('wc -c', large)).trim(), String(JSON.stringify(large).length))
  })

  void it('has its output and exit code as result, and does not change the shell', async () => {
    await say(sandbox, 'A=before; cd /tmp')
    const result = await run("A=after; cd /; echo 'said'; exit 3", {})
    assert.deepEqual([textOf(result), result.is_error], ['said\n[exit 3]', true])
    assert.equal(await say(sandbox, 'echo $A $PWD'), 'before /tmp')
    assert.equal(custom({ type: 'sandbox', command: 'x' }, {}).sandbox, 'changed')
  })

  void it('keeps a result that is too long in a file of the sandbox, whoever made it', async () => {
    await using peer = await httpPeer(() => new Response('0123456789'.repeat(12_000)))
    const tool = custom(
      { type: 'http', endpoint: 'https://api.test' },
      { sandbox: async () => sandbox, outbound: (_url, init) => fetch(peer.url, init) },
    )
    const said = textOf(await tool.run({}, { signal: never }))
    const path = /the whole is in (\S+?)\]/.exec(said)?.[1]
    assert.ok(path && said.length < 10_000)
    assert.equal(await say(sandbox, `wc -c < ${path}`), '120000')
  })

  void it('quotes every text as one word', async () => {
    for (const text of ["'", "''", "a'b", "\\'", '', '\n', '$x', "'\\''"])
      assert.equal(
        (await sandbox.shell({ command: `printf %s ${quoteWord(text)}`, timeoutMs: 5_000 })).output,
        text,
      )
  })
})

void describe('bash with the secrets of a command', () => {
  let setup: Awaited<ReturnType<typeof openSandbox>>
  before(async () => {
    setup = await openSandbox()
  })
  after(() => setup[Symbol.asyncDispose]())
  const asked: string[][] = []
  const bash = () => {
    const tools = buildTools([{ type: 'agent_toolset_20260401' }], {
      ...shutEgress,
      sandbox: async () => setup.sandbox,
      async commandSecrets(words): Promise<Record<string, string>> {
        asked.push([...words])
        return words[0] === 'python3' ? { TOKEN: 'hunter2-hunter2' } : {}
      },
    })
    const tool = tools.find(({ name }) => name === 'bash')
    assert.ok(tool)
    return async (command: string) => textOf(await tool.run({ command }, { signal: never }))
  }

  void it('gives them to that one command, and to nothing after it or beside it', async () => {
    const run = bash()
    const look = `import os; t = os.environ.get("TOKEN", "none"); print(len(t), t)`
    const said = await run(`python3 -c '${look}'`)
    assert.match(said, /^15 /)
    assert.doesNotMatch(said, /hunter2/)
    assert.equal((await run('echo ${TOKEN-none}')).trim(), 'none')
    assert.match(await run(`true && python3 -c '${look}'`), /^4 none/)
    assert.deepEqual(asked, [['python3', '-c', look]])
  })

  void it('says why there are none when egress refuses', async () => {
    const refusal = { host: 'git', port: 0, reason: 'fenced' as const, message: 'taken over' }
    const [tool] = buildTools([{ type: 'agent_toolset_20260401' }], {
      ...shutEgress,
      sandbox: async () => setup.sandbox,
      commandSecrets: () => Promise.reject(new RequestRefused(refusal)),
    })
    const result = await tool?.run({ command: 'git push' }, { signal: never })
    assert.equal(result?.is_error, true)
    assert.match(textOf(result), /nothing was run: egress denied: git .*taken over/)
  })
})
