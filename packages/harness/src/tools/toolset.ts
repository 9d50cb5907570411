/** An agent's tool entries as tools that can run. */
import type { PermissionPolicy, ToolEntry } from '@steward/protocol/tools.ts'
import type { Sandbox } from '@steward/sandbox/sandbox.ts'
import { bashTool } from './bash.ts'
import { editTool, readTool, writeTool } from './files.ts'
import { permissionOf } from './permission.ts'
import { globTool, grepTool } from './search.ts'
import type { Outside } from './outside.ts'
import { spilling } from './spill.ts'
import type { SandboxTool, Tool } from './tool.ts'

/** Those of the toolset that run in a sandbox; the web tools are not offered. */
const inSandbox: Record<string, SandboxTool> = {
  bash: bashTool,
  read: readTool,
  write: writeTool,
  edit: editTool,
  glob: globTool,
  grep: grepTool,
}

export type ToolDeps = Outside & {
  /** The session's sandbox, started by the first call. */
  sandbox: () => Promise<Sandbox>
}

/** In the order of the entries, which the model sees. `tools` come resolved, every choice spelled out. */
export function toolsOf(tools: readonly ToolEntry[], deps: ToolDeps): Tool[] {
  return tools.flatMap((entry): Tool[] => {
    if (entry.type === 'custom') return [clientTool(entry)]
    if (entry.type !== 'agent_toolset_20260401') return []
    return Object.values(inSandbox).flatMap((tool) => {
      const config = entry.configs?.find(({ name }) => name === tool.name) ?? entry.default_config
      if (config?.enabled === false) return []
      return [bound(tool, config?.permission_policy ?? { type: 'always_allow' }, deps)]
    })
  })
}

function bound(tool: SandboxTool, policy: PermissionPolicy, { sandbox }: ToolDeps): Tool {
  return {
    name: tool.name,
    description: tool.description,
    input_schema: tool.input_schema,
    runs: 'here',
    input: 'checked',
    permission: permissionOf(policy),
    repeat: tool.repeat,
    sandbox: tool.repeat === 'safe' ? 'read' : 'changed',
    prepare() {
      // The call itself reports a sandbox that does not start.
      sandbox().catch(() => {})
    },
    run: spilling(tool, sandbox),
  }
}

/** Answered by the client; permission policies are not for these. */
function clientTool(entry: Extract<ToolEntry, { type: 'custom' }>): Tool {
  return {
    name: entry.name,
    description: entry.description,
    input_schema: entry.input_schema,
    runs: 'client',
    input: 'passed',
    permission: 'allow',
    repeat: 'never',
    sandbox: 'unused',
    prepare() {},
    run: () => Promise.reject(new Error(`${entry.name} is answered by the client`)),
  }
}
