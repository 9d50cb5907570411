import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { OpenAITool } from '@steward/protocol/openai/tools.ts'
import type { McpServerShown } from '@steward/protocol/agents.ts'
import type { Tools, Toolset } from '@steward/protocol/tools.ts'
import { resolveTools } from '@steward/protocol/tools.ts'
import { haveShell, showTools, toAgentTools, toolsFor } from './tools.ts'

const asks = { enabled: true, permission_policy: { type: 'always_ask' } } as const
const asked = [{ type: 'automations' } as const]
const policiesOf = (tools: Tools) =>
  tools.flatMap((tool) => {
    if (tool.type !== 'agent_toolset_20260401') return []
    const { enabled = false, permission_policy } = tool.automations ?? {}
    return [enabled ? permission_policy?.type : undefined]
  })

describe('the tool automations of an agent', () => {
  for (const enabled of [false, true]) {
    const what = enabled ? 'with a shell' : 'without a shell'
    const kept = resolveTools([
      { type: 'agent_toolset_20260401', default_config: { enabled }, automations: asks },
    ])

    // verifies: openai/agents/tools/policies, tools/permission/ask
    it(`keeps its policy ${what}, in a change and in sessions`, () => {
      assert.deepEqual(policiesOf(toAgentTools(asked, { tools: kept, mcp_servers: [] }).tools), [
        'always_ask',
      ])
      for (const hasEnvironment of [false, true])
        assert.deepEqual(policiesOf(toolsFor(kept, hasEnvironment)), ['always_ask'])
    })

    // verifies: openai/agents/tools
    it(`is taken from an agent ${what} by a change without it`, () => {
      const [policy] = policiesOf(toAgentTools([], { tools: kept, mcp_servers: [] }).tools)
      assert.equal(policy, undefined)
    })
  }

  // verifies: openai/agents/tools
  it('is allowed where the agent had it not', () => {
    assert.deepEqual(policiesOf(toAgentTools(asked).tools), ['always_allow'])
  })
})

type Rights = { enabled?: boolean | null | undefined; permission_policy?: unknown }
const rights = ({ enabled, permission_policy }: Rights) => ({ enabled, permission_policy })

/** What a call to `name` of the set may do. */
function rightsOf(tools: Tools, set: string, name: string) {
  for (const tool of resolveTools(tools)) {
    if (tool.type === 'custom') continue
    if ((tool.type === 'mcp_toolset' ? tool.mcp_server_name : tool.type) !== set) continue
    const found = (tool.configs ?? []).find((each) => each.name === name)
    return rights(found ?? tool.default_config ?? {})
  }
  return undefined
}

const ask = { type: 'always_ask' } as const
const allow = { type: 'always_allow' } as const
const toolsetType = 'agent_toolset_20260401'
const wiki = { name: 'wiki', type: 'url', url: 'https://wiki.example.com/mcp' } as const
const ofWiki = { type: 'mcp_toolset', mcp_server_name: 'wiki' } as const
const local = {
  name: 'local',
  type: 'stdio',
  stdio: { command: 'serve', port: 3000, ready_timeout_ms: 1000 },
} satisfies McpServerShown
const ofLocal = { type: 'mcp_toolset', mcp_server_name: 'local' } as const

/** A client that reads an agent and sends its tools as they are. */
function sentAgain(tools: Tools, mcp_servers: Parameters<typeof showTools>[1] = []) {
  const kept = { tools: resolveTools(tools), mcp_servers: [...mcp_servers] }
  const given = showTools(kept.tools, kept.mcp_servers).map((tool) => OpenAITool.parse(tool))
  return { given, kept, ...toAgentTools(given, kept) }
}

describe('tools of an agent that are sent as they were read', () => {
  // verifies: openai/agents/tools/policies, tools/permission/ask
  it('keep the policies of an MCP server and of its tools', () => {
    const { tools } = sentAgain(
      [
        {
          ...ofWiki,
          default_config: { enabled: true, permission_policy: ask },
          configs: [
            { name: 'read', enabled: true, permission_policy: allow },
            { name: 'delete', enabled: false },
          ],
        },
      ],
      [wiki],
    )
    assert.deepEqual(rightsOf(tools, 'wiki', 'write'), { enabled: true, permission_policy: ask })
    assert.deepEqual(rightsOf(tools, 'wiki', 'read'), { enabled: true, permission_policy: allow })
    assert.equal(rightsOf(tools, 'wiki', 'delete')?.enabled, false)
  })

  // verifies: openai/agents/tools/policies, tools/permission/ask
  it('keep the policies of an MCP server of which only some tools are allowed', () => {
    const some = {
      ...ofWiki,
      default_config: { enabled: false, permission_policy: allow },
      configs: [{ name: 'write', enabled: true, permission_policy: ask }],
    }
    const { tools, given, kept } = sentAgain([some], [wiki])
    assert.deepEqual(rightsOf(tools, 'wiki', 'write'), { enabled: true, permission_policy: ask })
    assert.equal(rightsOf(tools, 'wiki', 'read')?.enabled, false)
    const all = given.map((tool) => ({
      ...tool,
      ...(tool.type === 'mcp' && { allowed_tools: null }),
    }))
    const opened = toAgentTools(all as typeof given, kept).tools
    assert.deepEqual(rightsOf(opened, 'wiki', 'read'), { enabled: true, permission_policy: allow })
    assert.deepEqual(rightsOf(opened, 'wiki', 'write'), { enabled: true, permission_policy: ask })
  })

  // verifies: openai/agents/tools
  it('keep the servers that this wire does not show', () => {
    const { tools, mcp_servers } = sentAgain([ofLocal, ofWiki], [local, wiki])
    assert.deepEqual(mcp_servers.map(({ name }) => name).toSorted(), ['local', 'wiki'])
    assert.deepEqual(rightsOf(tools, 'local', 'any'), { enabled: true, permission_policy: ask })
  })

  for (const enabled of [false, true]) {
    const search = { name: 'web_search', enabled: true, permission_policy: ask } as const

    // verifies: openai/agents/tools/policies, tools/permission/ask
    it(`keep the policy of web search ${enabled ? 'with' : 'without'} a shell`, () => {
      const { tools } = sentAgain([
        { type: toolsetType, default_config: { enabled }, configs: [search] },
      ])
      assert.deepEqual(rightsOf(tools, toolsetType, 'web_search'), rights(search))
    })

    // verifies: openai/agents/tools/policies
    it(`keep the tool schedule_wakeup ${enabled ? 'with' : 'without'} a shell, in sessions too`, () => {
      const { tools, kept } = sentAgain([
        { type: toolsetType, default_config: { enabled }, schedule_wakeup: asks },
      ])
      const wakeups = [tools, toolsFor(kept.tools, true), toolsFor(kept.tools, false)].map(
        (each) => each.find((tool) => tool.type === toolsetType)?.schedule_wakeup,
      )
      assert.deepEqual(wakeups, [asks, asks, asks])
    })
  }
})

// verifies: tools/permission/ask
describe('a toolset that asks', () => {
  const kept = resolveTools([
    { type: toolsetType, default_config: { enabled: true, permission_policy: ask } },
  ])

  it('asks for web search in a session without an environment', () => {
    const tools = toolsFor(kept, false)
    assert.deepEqual(rightsOf(tools, toolsetType, 'web_search')?.permission_policy, ask)
  })

  it('asks for the tools that a change adds', () => {
    const off = resolveTools([
      { type: toolsetType, default_config: { enabled: false, permission_policy: ask } },
    ])
    const added = [OpenAITool.parse({ type: 'web_search' }), ...asked]
    const { tools } = toAgentTools(added, { tools: off, mcp_servers: [] })
    assert.deepEqual(rightsOf(tools, toolsetType, 'web_search')?.permission_policy, ask)
    assert.deepEqual(policiesOf(tools), ['always_ask'])
    assert.deepEqual(rightsOf(toolsFor(off, true), toolsetType, 'bash')?.permission_policy, ask)
  })
})

describe('a change of tools', () => {
  const mcp = (server_label: string, server_url: string, allowed_tools?: string[]) =>
    OpenAITool.parse({
      type: 'mcp',
      server_label,
      transport: { type: 'http', server_url },
      allowed_tools,
    })
  const search = OpenAITool.parse({ type: 'web_search' })

  // verifies: openai/agents/tools/policies, tools/permission/ask
  it('keeps the policy of the shell, which a session with an environment then has', () => {
    const off = {
      type: toolsetType,
      default_config: { enabled: false, permission_policy: ask },
    } as const
    const kept = { tools: resolveTools([off]), mcp_servers: [] }
    for (const given of [[], [search], asked]) {
      const tools = resolveTools(toAgentTools(given, kept).tools)
      const bash = rightsOf(toolsFor(tools, true), toolsetType, 'bash')
      assert.deepEqual(bash, { enabled: true, permission_policy: ask })
      const again = resolveTools(toAgentTools([search], { tools, mcp_servers: [] }).tools)
      assert.deepEqual(rightsOf(again, toolsetType, 'web_search')?.permission_policy, ask)
    }
  })

  // verifies: openai/agents/tools/hidden
  it('keeps web_fetch, blocked domains and tools that are off, in sessions too', () => {
    const { tools } = sentAgain([
      {
        type: toolsetType,
        default_config: { enabled: false },
        configs: [
          { name: 'web_fetch', enabled: true, permission_policy: ask },
          { name: 'web_search', enabled: true, blocked_domains: ['evil.example'] },
          { name: 'bash', enabled: false },
        ],
      },
    ])
    assert.deepEqual(rightsOf(tools, toolsetType, 'web_fetch'), {
      enabled: true,
      permission_policy: ask,
    })
    const [toolset] = tools
    const found = toolset?.type === toolsetType ? toolset.configs : []
    assert.deepEqual(found?.find(({ name }) => name === 'web_search')?.blocked_domains, [
      'evil.example',
    ])
    const inSession = toolsFor(tools, true)
    assert.equal(rightsOf(inSession, toolsetType, 'bash')?.enabled, false)
    assert.equal(rightsOf(inSession, toolsetType, 'read')?.enabled, true)
    const closed = resolveTools([
      {
        type: toolsetType,
        default_config: { enabled: false },
        configs: [
          { name: 'web_search', enabled: true },
          { name: 'web_fetch', enabled: false },
        ],
      },
    ])
    assert.equal(rightsOf(toolsFor(closed, true), toolsetType, 'web_fetch')?.enabled, false)
  })

  // verifies: openai/agents/tools/policies, tools/permission/ask
  it('keeps the policies of tools that are taken away, for when they are named again', () => {
    const some = {
      ...ofWiki,
      default_config: { enabled: true, permission_policy: allow },
      configs: [{ name: 'write', enabled: true, permission_policy: ask }],
    }
    const toolset = {
      type: toolsetType,
      automations: asks,
      configs: [{ name: 'web_search', enabled: true, permission_policy: ask }],
    } satisfies Toolset
    const kept = { tools: resolveTools([some, toolset]), mcp_servers: [wiki] }
    const narrowed = toAgentTools([mcp('wiki', wiki.url, ['read'])], kept)
    assert.equal(rightsOf(narrowed.tools, 'wiki', 'write')?.enabled, false)
    assert.equal(rightsOf(narrowed.tools, toolsetType, 'web_search')?.enabled, false)
    assert.deepEqual(
      showTools(resolveTools(narrowed.tools), [wiki]).map(({ type }) => type),
      ['mcp'],
    )
    const turned = toAgentTools([mcp('wiki', wiki.url, ['list'])], narrowed)
    const entries = turned.tools.find((tool) => tool.type === 'mcp_toolset')?.configs ?? []
    assert.deepEqual(
      entries.map(({ name }) => name),
      ['write', 'list'],
    )
    const given = [mcp('wiki', wiki.url, ['read', 'write']), search, ...asked]
    const { tools } = toAgentTools(given, { ...narrowed, tools: resolveTools(narrowed.tools) })
    assert.deepEqual(rightsOf(tools, 'wiki', 'write'), { enabled: true, permission_policy: ask })
    assert.deepEqual(rightsOf(tools, toolsetType, 'web_search')?.permission_policy, ask)
    assert.deepEqual(policiesOf(tools), ['always_ask'])
  })

  // verifies: openai/agents/tools/policies, tools/permission/ask
  it('keeps the policies of an MCP server that gets another name', () => {
    const kept = { tools: resolveTools([ofWiki]), mcp_servers: [wiki] }
    const { tools, mcp_servers } = toAgentTools([mcp('pages', wiki.url)], kept)
    assert.deepEqual(
      mcp_servers.map(({ name }) => name),
      ['pages'],
    )
    assert.deepEqual(rightsOf(tools, 'pages', 'any'), { enabled: true, permission_policy: ask })
  })

  // verifies: openai/agents/tools/hidden
  it('keeps the shell of a session whose toolset names it', () => {
    const some = resolveTools([
      {
        type: toolsetType,
        default_config: { enabled: false },
        configs: [{ name: 'bash', enabled: true, permission_policy: ask }],
      },
    ])
    const tools = toolsFor(
      toAgentTools([], { tools: some, mcp_servers: [] }).tools,
      haveShell(some),
    )
    assert.deepEqual(rightsOf(tools, toolsetType, 'bash'), {
      enabled: true,
      permission_policy: ask,
    })
    assert.ok(!haveShell(toolsFor(some, false)))
  })

  // verifies: openai/agents/tools/hidden
  it('keeps who runs a tool of your own, and MCP servers without tools', () => {
    const own = {
      type: 'custom',
      name: 'price',
      description: 'A price.',
      input_schema: { type: 'object' },
      execution: { type: 'http', endpoint: 'https://tools.example.com/price' },
    } as const
    const { tools, mcp_servers } = sentAgain([own], [wiki])
    assert.deepEqual(tools, [own])
    assert.deepEqual(
      mcp_servers.map(({ name }) => name),
      ['wiki'],
    )
  })

  // verifies: openai/agents/tools/hidden
  it('refuses the name of a server that this wire does not show, and what has no room beside it', () => {
    const kept = { tools: resolveTools([ofLocal]), mcp_servers: [local] }
    assert.throws(
      () => toAgentTools([search, mcp('local', wiki.url)], kept),
      /tools\.1\.server_label: local is an MCP server of type stdio/,
    )
    const servers = Array.from({ length: 20 }, (_, n) => mcp(`s${n}`, wiki.url))
    assert.throws(() => toAgentTools(servers, kept), /21 MCP servers, of which .* not show 1/)
    const own = Array.from({ length: 248 }, (_, n) =>
      OpenAITool.parse({
        ...{ type: 'function', name: `f${n}`, description: 'A function.' },
        parameters: { type: 'object', properties: {} },
      }),
    )
    const whole = { ...kept, tools: [...kept.tools, ...resolveTools([{ type: toolsetType }])] }
    assert.throws(() => toAgentTools(own, whole), /257 tools; at most 256/)
  })
})
