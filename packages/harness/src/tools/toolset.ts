/** Turns an agent's tool entries into tools that can run. */
import type { CustomTool, PermissionPolicy, ToolEntry, Toolset } from '@steward/protocol/tools.ts'
import type { Sandbox } from '@steward/sandbox/sandbox.ts'
import type { SessionAutomations } from '../automations.ts'
import { automationsTool } from './automations.ts'
import { bashTool } from './bash.ts'
import { callEndpoint, commandTool, isReading } from './custom.ts'
import { editTool, readTool, writeTool } from './files.ts'
import type { ToolEgress } from './egress.ts'
import { permissionOf } from './permission.ts'
import { globTool, grepTool } from './search.ts'
import { boundResult, bindToSandbox } from './spill.ts'
import type { SandboxTool, Tool } from './tool.ts'
import { wakeupTool } from './wakeup.ts'
import { fetchPage, webFetch } from './web-fetch/web-fetch.ts'
import { searchWeb, webSearch } from './web-search/web-search.ts'

export type ToolDeps = ToolEgress & {
  /** The session's sandbox, which the first call starts. */
  sandbox: () => Promise<Sandbox>
  /** True when a worker runs the tools that need the sandbox. */
  isElsewhere?: boolean
  /** The time, in ms. Absent when nobody wakes an agent. */
  now?: () => number
  /** Absent for everyone but the session's own agent. */
  automations?: SessionAutomations | undefined
}

/** The tools in the order of the entries, which the model sees. `tools` have all defaults filled in. */
export const buildTools = (tools: readonly ToolEntry[], deps: ToolDeps): Tool[] =>
  tools.flatMap((entry): Tool[] => {
    if (entry.type === 'custom') return [customTool(entry, deps)]
    return entry.type === 'agent_toolset_20260401' ? builtIn(entry, deps) : []
  })

type ToolsetToolConfig = NonNullable<Toolset['configs']>[number]
type ToolSettings = Omit<ToolsetToolConfig, 'name' | 'type'>

function builtIn(entry: Toolset, deps: ToolDeps): Tool[] {
  const { web, sandbox } = deps
  const inSandbox = [
    bashTool(deps.commandSecrets),
    ...[readTool, writeTool, editTool, globTool, grepTool],
  ]
  const inPlace = (tool: SandboxTool): Omit<Tool, 'permission'> =>
    deps.isElsewhere
      ? { ...runInSandbox(tool, sandbox), runs: 'worker', sandbox: 'unused', prepare() {} }
      : runInSandbox(tool, sandbox)
  const makers: [string, (config: ToolSettings) => Omit<Tool, 'permission'>][] = [
    ...inSandbox.map((tool) => [tool.name, () => inPlace(tool)] satisfies [string, () => unknown]),
    ...(web
      ? [
          webMaker(webFetch, (config) => fetchPage(web, config), sandbox),
          webMaker(webSearch, (config) => searchWeb(web, config), sandbox),
        ]
      : []),
  ]
  const offered = (
    make: (config: ToolSettings) => Omit<Tool, 'permission'>,
    config: ToolSettings,
  ) => {
    if (config.enabled === false) return []
    const policy: PermissionPolicy = config.permission_policy ?? { type: 'always_allow' }
    return [{ ...make(config), permission: permissionOf(policy) }]
  }
  const { now, automations } = deps
  const { default_config: usual, schedule_wakeup: waking, automations: scheduling } = entry
  return [
    ...makers.flatMap(([name, make]) =>
      offered(make, entry.configs?.find((each) => each.name === name) ?? usual ?? {}),
    ),
    ...(now && waking ? offered(() => wakeupTool(now), waking) : []),
    ...(automations && scheduling ? offered(() => automationsTool(automations), scheduling) : []),
  ]
}

/** A tool that runs in the sandbox. */
function runInSandbox(tool: SandboxTool, sandbox: ToolDeps['sandbox']): Omit<Tool, 'permission'> {
  return {
    name: tool.name,
    description: tool.description,
    input_schema: tool.input_schema,
    runs: 'here',
    input: 'checked',
    repeat: tool.repeat,
    sandbox: tool.repeat === 'safe' ? 'read' : 'changed',
    prepare() {
      // The call reports a sandbox that does not start.
      sandbox().catch(() => {})
    },
    run: bindToSandbox(tool, sandbox),
  }
}

/** A tool that runs outside of the sandbox and needs it only for a result that is too long. */
function elsewhere(
  tool: Pick<Tool, 'name' | 'description' | 'input_schema' | 'repeat' | 'run'>,
  sandbox: ToolDeps['sandbox'],
): Omit<Tool, 'permission'> {
  return {
    ...tool,
    runs: 'here',
    input: 'checked',
    sandbox: 'unused',
    prepare() {},
    run: async (input, options) => boundResult(await tool.run(input, options), sandbox),
  }
}

const webMaker = (
  tool: Pick<Tool, 'name' | 'description' | 'input_schema' | 'repeat'>,
  run: (config: ToolSettings) => Tool['run'],
  sandbox: ToolDeps['sandbox'],
): [string, (config: ToolSettings) => Omit<Tool, 'permission'>] => [
  tool.name,
  (config) => elsewhere({ ...tool, run: run(config) }, sandbox),
]

/** Custom tools have no permission policy, whoever runs them. */
function customTool(entry: CustomTool, { sandbox, outbound }: ToolDeps): Tool {
  const { name, description, input_schema, execution } = entry
  // The schema is the tenant's, so the tool itself checks its input.
  const own = { input: 'passed', permission: 'allow' } as const
  if (execution?.type === 'http') {
    const repeat = isReading(execution) ? 'safe' : 'never'
    const run = callEndpoint(execution, outbound)
    return { ...elsewhere({ name, description, input_schema, repeat, run }, sandbox), ...own }
  }
  if (execution?.type === 'sandbox')
    return { ...runInSandbox(commandTool(entry, execution.command), sandbox), ...own }
  return {
    name,
    description,
    input_schema,
    ...own,
    runs: 'client',
    repeat: 'never',
    sandbox: 'unused',
    prepare() {},
    run: () => Promise.reject(new Error(`${name} is answered by the client`)),
  }
}
