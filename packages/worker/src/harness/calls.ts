/** The built-in tools in the form of the official client's tool runner, with the service's results. */
import type Anthropic from '@anthropic-ai/sdk'
import { ToolError } from '@anthropic-ai/sdk/lib/tools/ToolError'
import { inputProblem } from '@steward/harness/tools/input.ts'
import type { Tool, ToolResult } from '@steward/harness/tools/tool.ts'
import { textResult } from '@steward/harness/tools/tool.ts'
import { buildTools } from '@steward/harness/tools/toolset.ts'
import type { Sandbox } from '@steward/sandbox/sandbox.ts'
import type { OutputListener } from '@steward/sandbox/output/follow.ts'
import { withoutHostPaths } from '@steward/sandbox/host-paths.ts'
import { SandboxEnded } from '@steward/sandbox/sandbox.ts'

type SessionEvents = Anthropic['beta']['sessions']['events']
type RunnableTool = Parameters<SessionEvents['toolRunner']>[1]['tools'][number]
type ToolContent = Exclude<Awaited<ReturnType<RunnableTool['run']>>, string>

/** Called around each call, so that the harness knows at its end whether a call runs. */
export type CallWatch = {
  began(id: string, name: string): void
  ended(id: string, isError: boolean): void
  /** Hears what the command of a call writes while it runs. */
  output?: (id: string) => OutputListener
}

const whole = { type: 'agent_toolset_20260401', default_config: { enabled: true } } as const

/** Lines for the model: `changed` after a call that may have changed a file, `announced` after any call. */
export type CallSandbox = {
  open(): Promise<Sandbox>
  changed(): Promise<readonly string[]>
  announced(): Promise<readonly string[]>
}

export function runnableTools(sandbox: CallSandbox, watch: CallWatch): RunnableTool[] {
  const tools = buildTools([whole], {
    sandbox: () => sandbox.open(),
    web: null,
    commandSecrets: () => Promise.resolve({}),
    outbound: () => Promise.reject(new Error('this harness calls no endpoints')),
  })
  return tools.map((tool) => toRunnableTool(tool, sandbox, watch))
}

export function toRunnableTool(tool: Tool, sandbox: CallSandbox, watch: CallWatch): RunnableTool {
  const { name, description, input_schema } = tool
  return {
    type: 'custom',
    name,
    description,
    input_schema: { ...input_schema, type: 'object' },
    parse: (input) => input,
    async run(input: Record<string, unknown>, context) {
      const id = context?.toolUse.id ?? ''
      watch.began(id, name)
      const signal = context?.signal ?? new AbortController().signal
      const output = watch.output?.(id)
      const { content, is_error } = await attempt(tool, sandbox, input, { signal, output })
      watch.ended(id, is_error)
      if (is_error) throw new ToolError(content as ToolContent)
      return content as ToolContent
    },
  }
}

/** Stores what a call has changed. The call has run, so a failure becomes a line of its result. */
const kept = (sandbox: CallSandbox): Promise<readonly string[]> =>
  sandbox.changed().catch((error: Error) => [`what this changed was not kept: ${error.message}`])

const news = (sandbox: CallSandbox): Promise<readonly string[]> =>
  sandbox.announced().catch((error: Error) => [`new files were not looked for: ${error.message}`])

async function attempt(
  tool: Tool,
  sandbox: CallSandbox,
  input: Record<string, unknown>,
  options: Parameters<Tool['run']>[1],
): Promise<ToolResult> {
  const why = tool.input === 'checked' ? await inputProblem(tool, input) : undefined
  if (why !== undefined) return textResult(why, true)
  try {
    const result = await tool.run(input, options)
    const changes = tool.sandbox === 'changed' ? await kept(sandbox) : []
    const lines = [...changes, ...(await news(sandbox))]
    if (lines.length === 0) return result
    return { ...result, content: [...result.content, { type: 'text', text: lines.join('\n') }] }
  } catch (error) {
    if (!(error instanceof SandboxEnded)) throw error
    return textResult(`the sandbox of this session ended: ${withoutHostPaths(error.message)}`, true)
  }
}
