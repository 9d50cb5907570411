import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type { McpHosts } from '../mcp.ts'
import { callTool, mcpHosts, sessionOf, vaultOf } from '../mcp.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import type { SeenEvent } from '../turns.ts'
import { logOf, only, textOf, turn } from '../turns.ts'
import { verifies } from '../verifies.ts'

const canary = () => `canary-${crypto.randomUUID()}`
const toolset = { type: 'agent_toolset_20260401' }
const searchKey = canary()
const page = '<html><title>Tea</title><body><h1>Tea</h1><p>Two <b>leaves</b>.</p></body></html>'

const custom = (name: string, execution: object) => ({
  type: 'custom',
  name,
  description: 'does something',
  input_schema: { type: 'object', properties: { what: { type: 'string' } } },
  execution,
})
const bearer = (token: string, host: string) => ({
  type: 'static_bearer',
  token,
  mcp_server_url: `https://${host}/`,
})
const resultOf = (events: readonly SeenEvent[]) => {
  const result = only(events, 'agent.tool_result')
  const blocks = result['content'] as { type: string; source?: string; title?: string }[]
  return { text: textOf(result), isError: result['is_error'], blocks }
}

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`tools that reach outside on ${database}`, () => {
    let service: TestService
    let hosts: McpHosts
    before(async () => {
      hosts = await mcpHosts()
      for (const host of ['api.example', 'other.example']) {
        hosts.set(host, async (request) => {
          const { method, url, headers } = request
          const body = await request.text()
          return Response.json({ method, url, body, authorization: headers.get('authorization') })
        })
      }
      hosts.set(
        'pages.api.example',
        () => new Response(page, { headers: { 'content-type': 'text/html' } }),
      )
      hosts.set('search.api.example', () =>
        Response.json({
          results: [
            { url: 'https://pages.api.example/tea', title: 'Tea', content: 'two leaves' },
            { url: 'https://other.example/tea', title: 'Other', content: 'three leaves' },
          ],
        }),
      )
      service = await boot(database, {
        env: {
          WEB_SEARCH_API_KEY: searchKey,
          WEB_SEARCH_BASE_URL: 'https://search.api.example',
        },
        overrides: { nameOverride: hosts.outside },
      })
    })
    after(async () => {
      await hosts[Symbol.asyncDispose]()
      await service.close()
    })

    verifies(
      ['tools/http/request', 'tools/http/injected', 'tools/http/hidden', 'tools/http/result'],
      'an http tool asks its endpoint with the credential of the host, which nobody is shown',
      async () => {
        const token = canary()
        const session = await sessionOf(service, {
          tools: [
            custom('post_it', { type: 'http', endpoint: 'https://api.example/tool' }),
            custom('get_it', { type: 'http', endpoint: 'https://api.example/get', method: 'GET' }),
            custom('leave', { type: 'http', endpoint: 'https://other.example/tool' }),
          ],
          environment: { network: { allowlist: ['api.example'] } },
          vault_ids: [await vaultOf(service, bearer(token, 'api.example'))],
        })
        const use = async (tool: string) => turnOf(session, callTool(tool, { what: 'tea' }))
        const posted = JSON.parse((await use('post_it')).text) as Record<string, string>
        assert.deepEqual(posted, {
          method: 'POST',
          url: 'http://api.example/tool',
          body: '{"what":"tea"}',
          authorization: `Bearer ${'*'.repeat(token.length)}`,
        })
        const asked = JSON.parse((await use('get_it')).text) as Record<string, string>
        assert.deepEqual(
          [asked['method'], asked['url']],
          ['GET', 'http://api.example/get?what=tea'],
        )
        const sent = hosts.of('api.example').map(({ authorization }) => authorization)
        assert.deepEqual([...new Set(sent)], [`Bearer ${token}`])
        const refused = await use('leave')
        assert.equal(refused.isError, true)
        assert.match(refused.text, /egress denied: other\.example/)
        assert.deepEqual(hosts.of('other.example'), [])
        assert.ok(!JSON.stringify([await logOf(service, session), service.logged]).includes(token))
      },
    )

    async function turnOf(session: string, text: string) {
      return resultOf(await turn(service, session, text))
    }

    verifies(
      ['tools/sandbox/run'],
      'a sandbox tool runs its command with the input before it, which no shell reads',
      async () => {
        const session = await sessionOf(service, {
          tools: [
            custom('look', { type: 'sandbox', command: 'cat; echo; pwd; hostname' }),
            custom('fail', { type: 'sandbox', command: 'echo no >&2; exit 3' }),
          ],
        })
        const what = `'; echo owned; '$(echo owned)`
        const { text } = await turnOf(session, callTool('look', { what }))
        const [input = '', path] = text.split('\n')
        assert.deepEqual([JSON.parse(input), path], [{ what }, '/workspace'])
        const failed = await turnOf(session, callTool('fail', {}))
        assert.equal(failed.isError, true)
        assert.match(failed.text, /no\n/)
      },
    )

    verifies(
      ['tools/web-fetch', 'tools/web/no-sandbox-network', 'tools/web/lists'],
      'web_fetch reads a page from outside the sandbox, within the lists, without a credential',
      async () => {
        const token = canary()
        const vault = await vaultOf(service, bearer(token, 'pages.api.example'))
        const session = await sessionOf(service, {
          tools: [toolset],
          environment: { network: { allowlist: ['pages.api.example'] } },
          vault_ids: [vault],
        })
        const fetching = (host: string) => callTool('web_fetch', { url: `https://${host}/tea` })
        const { text, isError } = await turnOf(session, fetching('pages.api.example'))
        assert.equal(isError, false)
        assert.match(text, /# Tea\n+Two \*\*leaves\*\*\./)
        const sent = hosts.of('pages.api.example').map(({ authorization }) => authorization)
        assert.deepEqual(sent, [undefined])
        const refused = await turnOf(session, fetching('other.example'))
        assert.equal(refused.isError, true)
        assert.match(refused.text, /egress denied: other\.example/)
        const direct = "run: curl -s --noproxy '*' -m 2 https://93.184.216.34/ || echo none"
        assert.match((await turnOf(session, direct)).text, /none/)
      },
    )

    verifies(
      ['tools/web-search', 'tools/web/lists', 'settings/web-search-key'],
      'web_search asks the operator’s provider by the operator’s key, within the lists',
      async () => {
        const vault = await vaultOf(service, bearer(canary(), 'search.api.example'))
        const parts = { tools: [toolset], vault_ids: [vault] }
        const search = callTool('web_search', { query: 'tea' })
        const session = await sessionOf(service, parts)
        const { blocks } = await turnOf(session, search)
        assert.deepEqual(
          blocks.map(({ type, source, title }) => [type, source, title]),
          [
            ['search_result', 'https://pages.api.example/tea', 'Tea'],
            ['search_result', 'https://other.example/tea', 'Other'],
          ],
        )
        const [asked, ...more] = hosts.of('search.api.example')
        assert.deepEqual([asked?.authorization, more], [`Bearer ${searchKey}`, []])
        const told = JSON.stringify([await logOf(service, session), service.logged])
        assert.ok(!told.includes(searchKey))
        const environment = { network: { allowlist: ['pages.api.example'] } }
        const limited = await sessionOf(service, { ...parts, environment })
        const refused = await turnOf(limited, search)
        assert.equal(refused.isError, true)
        assert.match(refused.text, /search\.api\.example/)
        assert.equal(hosts.of('search.api.example').length, 1)
      },
    )

    verifies(
      ['sessions/usage/server-tool-use', 'threads/get'],
      'usage counts the searches that the search engine has answered, for the session and for each thread',
      async () => {
        const { agents, environments, sessions } = service.client.beta
        const agent = await agents.create({
          name: 'searcher',
          model: 'offline',
          tools: [{ type: 'agent_toolset_20260401' }],
          multiagent: { type: 'coordinator', agents: [{ type: 'self' }] },
        })
        const environment_id = (await environments.create({ name: 'for searches' })).id
        const { id: session } = await sessions.create({ agent: agent.id, environment_id })
        const searched = async () => (await sessions.retrieve(session)).usage.server_tool_use
        const counts = (web_search_requests: number) => ({
          web_search_requests,
          web_fetch_requests: 0,
        })
        assert.deepEqual(await searched(), counts(0))
        const search = callTool('web_search', { query: 'tea' })
        const seen = await turn(service, session, search)
        const told = only(seen, 'session.usage')['usage'] as { server_tool_use: object }
        assert.deepEqual(told.server_tool_use, counts(1))
        await turn(
          service,
          session,
          callTool('web_fetch', { url: 'https://pages.api.example/tea' }),
        )
        await turn(service, session, callTool('web_search', { query: ' ' }))
        hosts.set('search.api.example', () => new Response('', { status: 500 }))
        await turn(service, session, search)
        hosts.set('search.api.example', () => Response.json({ results: [] }))
        assert.deepEqual(await searched(), counts(1))
        const twice = `${search}\n${search}`
        await turn(
          service,
          session,
          callTool('create_agent', { agent: 'searcher', message: twice }),
        )
        const used: Record<string, unknown> = {}
        for await (const { parent_thread_id, usage } of sessions.threads.list(session))
          used[parent_thread_id === null ? 'primary' : 'child'] = usage?.server_tool_use
        assert.deepEqual(used, { primary: counts(1), child: counts(2) })
        assert.deepEqual(await searched(), counts(3))
      },
    )
  })
}

describe('web_search without a key', () => {
  verifies(['settings/web-search-key'], 'says what is missing, and asks nobody', async () => {
    await using hosts = await mcpHosts()
    const service = await boot('sqlite', { overrides: { nameOverride: hosts.outside } })
    const session = await sessionOf(service, { tools: [toolset] })
    const events = await turn(service, session, callTool('web_search', { query: 'tea' }))
    const { text, isError } = resultOf(events)
    await service.close()
    assert.equal(isError, true)
    assert.match(text, /web search is not set up.*key/)
    assert.deepEqual(hosts.noted, [])
  })
})
