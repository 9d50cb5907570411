import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { OpenAITool } from '@steward/protocol/openai/tools.ts'
import type { McpServerShown } from '@steward/protocol/agents.ts'
import type { Tools } from '@steward/protocol/tools.ts'
import { resolveTools } from '@steward/protocol/tools.ts'
import { showTools, toAgentTools, toolsFor } from './tools.ts'

const asks = { enabled: true, permission_policy: { type: 'always_ask' } } as const
const asked = [{ type: 'automations' } as const]
const policiesOf = (tools: Tools) =>
  tools.flatMap((tool) =>
    tool.type === 'agent_toolset_20260401' ? [tool.automations?.permission_policy?.type] : [],
  )

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

/** A client that reads an agent and sends its tools as they are. */
function sentAgain(tools: Tools, mcp_servers: Parameters<typeof showTools>[1] = []) {
  const kept = { tools: resolveTools(tools), mcp_servers: [...mcp_servers] }
  const given = showTools(kept.tools, kept.mcp_servers).map((tool) => OpenAITool.parse(tool))
  return { given, kept, ...toAgentTools(given, kept) }
}

describe('tools of an agent that are sent as they were read', () => {
  const wiki = { name: 'wiki', type: 'url', url: 'https://wiki.example.com/mcp' } as const
  const ofWiki = { type: 'mcp_toolset', mcp_server_name: 'wiki' } as const

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
    const local = {
      name: 'local',
      type: 'stdio',
      stdio: { command: 'serve', port: 3000, ready_timeout_ms: 1000 },
    } satisfies McpServerShown
    const ofLocal = { type: 'mcp_toolset', mcp_server_name: 'local' } as const
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
