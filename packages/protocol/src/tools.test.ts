import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { domainProblem } from './domains.ts'
import { resolveTools, strayToolset, Tools } from './tools.ts'

const problems = (tools: unknown): string[] =>
  Tools.safeParse(tools).error?.issues.map(
    ({ path, message }) => `${path.join('.')}: ${message}`,
  ) ?? []
const toolset = (...configs: object[]) => [{ type: 'agent_toolset_20260401', configs }]

void describe('a domain list', () => {
  void it('takes hosts, however written', () => {
    const good = ['example.com', 'Docs.Example.com/', 'xn--bcher-kva.example', 'a.b.co.uk', 't.co']
    for (const domain of good) assert.equal(domainProblem(domain), undefined, domain)
    assert.equal(domainProblem('example.com/docs/v2', { path: true }), undefined)
  })

  void it('takes nothing else', () => {
    const bad: [string, RegExp][] = [
      ['https://example.com', /scheme/],
      ['example.com:443', /port/],
      ['user@example.com', /credentials/],
      ['*.example.com', /wildcard/],
      ['example .com', /whitespace/],
      ['bücher.example', /punycode/],
      ['example.com/docs', /path/],
      ['127.0.0.1', /IP/],
      ['127.1', /IP/],
      ['0x7f.1', /IP/],
      ['2130706433', /IP/],
      ['[::1]', /IP/],
      ['1.2.3.4.5', /IP/],
      ['localhost', /no host/],
      ['a.localhost', /no host/],
      ['printer.local', /no host/],
      ['db.internal', /no host/],
      ['x.localdomain', /no host/],
      ['x.invalid', /no host/],
      ['com', /single label/],
      ['co.uk', /suffix/],
      ['com.au', /suffix/],
      ['-a.example.com', /no host name/],
      ['a-.example.com', /no host name/],
      ['a..example.com', /no host name/],
      ['example.com.', /no host name/],
      ['exa_mple.com', /no host name/],
    ]
    for (const [domain, why] of bad) assert.match(domainProblem(domain) ?? '', why, domain)
    for (const path of ['a b', 'a?b', 'a#b', 'a$', 'a,b', 'a|b', 'a^', 'a!'])
      assert.ok(domainProblem(`example.com/${path}`, { path: true }), path)
  })

  void it('names itself and the position of the wrong entry', () => {
    const configs = { name: 'web_fetch', blocked_domains: ['a.com', 'b.com/x', 'A.com/'] }
    assert.deepEqual(problems(toolset(configs)), [
      '0.configs.0.blocked_domains.1: "b.com/x" has a path',
      '0.configs.0.blocked_domains.2: "A.com/" says the same as blocked_domains[0]',
    ])
    assert.deepEqual(
      problems(toolset({ ...configs, name: 'web_search', blocked_domains: ['b.com/x'] })),
      [],
    )
  })

  void it('is the only list of its tool, is not empty, and is for the web tools', () => {
    const lists = { allowed_domains: ['a.com'], blocked_domains: ['b.com'] }
    assert.match(problems(toolset({ name: 'web_fetch', ...lists })).join(), /exclude each other/)
    assert.equal(problems(toolset({ name: 'web_fetch', allowed_domains: [] })).length, 1)
    assert.deepEqual(problems(toolset({ name: 'web_fetch', allowed_domains: null })), [])
    assert.match(problems(toolset({ name: 'bash', allowed_domains: ['a.com'] })).join(), /for bash/)
    const tokens = { max_content_tokens: 5 }
    assert.match(problems(toolset({ name: 'web_search', ...tokens })).join(), /for web_search/)
    const many = Array.from({ length: 65 }, (_, index) => `h${index}.com`)
    assert.equal(problems(toolset({ name: 'web_fetch', allowed_domains: many })).length, 1)
  })
})

void describe('the sources of a fetched URL', () => {
  const wrong = (url_sources: object) =>
    problems(toolset({ name: 'web_fetch', url_sources })).join()
  const only = (...names: string[]) => ({
    type: 'only',
    tools: names.map((name) => ({ type: 'tool_reference', name })),
  })

  void it('name tools of their kind, each once, and are not all closed', () => {
    const open = { client_tool_results: only('look_up'), server_tool_results: only('web_search') }
    assert.equal(wrong({ ...open, user_input: 'none' }), '')
    assert.equal(wrong({ client_tool_results: 'none', server_tool_results: 'none' }), '')
    const none = { type: 'none' }
    const closed = { client_tool_results: 'none', server_tool_results: none, user_input: none }
    assert.match(wrong(closed), /^0\.configs\.0\.url_sources: may not be none for all three/)
    const bad = [
      { client_tool_results: only() },
      { client_tool_results: only('a', 'a') },
      { client_tool_results: { type: 'only' } },
      { client_tool_results: { type: 'all', tools: [] } },
      { server_tool_results: only('bash') },
      { user_input: only('look_up') },
    ]
    for (const sources of bad) assert.notEqual(wrong(sources), '', JSON.stringify(sources))
  })

  void it('are shown as objects, and null where they are not set', () => {
    const configs = [{ name: 'web_fetch', url_sources: { user_input: 'all' } }, { name: 'read' }]
    const [entry] = resolveTools(Tools.parse(toolset(...configs)))
    assert.ok(entry && entry.type === 'agent_toolset_20260401')
    const shown = {
      client_tool_results: null,
      server_tool_results: null,
      user_input: { type: 'all' },
    }
    assert.deepEqual(entry.configs?.[0]?.url_sources, shown)
    assert.ok(entry.configs?.[1] && !('url_sources' in entry.configs[1]))
    assert.deepEqual(resolveTools(Tools.parse([entry])), [entry])
  })
})

void describe('toolsets', () => {
  const mcp = { type: 'mcp_toolset', mcp_server_name: 'files' }

  void it('occur once each, and name a tool once', () => {
    assert.match(problems([...toolset(), ...toolset()]).join(), /toolset .* already/)
    assert.match(problems([mcp, mcp]).join(), /toolset of files already/)
    assert.deepEqual(problems([mcp, { ...mcp, mcp_server_name: 'other' }, ...toolset()]), [])
    const twice = [{ name: 'read' }, { name: 'read' }]
    assert.match(problems(toolset(...twice)).join(), /more than once/)
    assert.match(problems([{ ...mcp, configs: twice }]).join(), /more than once/)
  })

  void it('of a server that nobody declared are found', () => {
    const tools = Tools.parse([...toolset(), mcp])
    assert.equal(strayToolset(tools, [{ name: 'files' }]), undefined)
    assert.equal(strayToolset(tools, [])?.index, 1)
    assert.equal(strayToolset([], [{ name: 'files' }]), undefined)
  })
})

void describe('a custom tool with execution', () => {
  const tool = (execution: object) => [
    { type: 'custom', name: 'a', description: 'a', input_schema: { type: 'object' }, execution },
  ]
  const http = (endpoint: string, method?: string) =>
    problems(tool({ type: 'http', endpoint, ...(method ? { method } : {}) }))

  void it('calls an https endpoint without credentials in its address', () => {
    assert.deepEqual(http('https://api.example/v1', 'put'), [])
    for (const endpoint of ['http://api.example', 'https://a:b@api.example', 'ftp://x', 'nothing'])
      assert.equal(http(endpoint).length, 1, endpoint)
    assert.equal(http('https://api.example', 'TRACE').length, 1)
  })
})
