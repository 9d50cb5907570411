import type { ResultContent } from '@steward/protocol/content.ts'
import type { CallEffect } from '../effects.ts'
import type { OutputListener } from '@steward/sandbox/output/follow.ts'
import type { Sandbox } from '@steward/sandbox/sandbox.ts'

/** A tool that fails returns a result for the model and never throws. */
export type ToolResult = {
  content: ResultContent[]
  is_error: boolean
  /** Requests of the call that the search engine has answered. Absent: none. */
  web_searches?: number
  /** The effect happens in the commit that stores the result, or is refused there. */
  effect?: CallEffect
}

export interface Tool {
  readonly name: string
  readonly description: string
  /**
   * JSON Schema of type object. Where `input` is `checked`, the same object in every turn: it is compiled once and
   * stays compiled.
   */
  readonly input_schema: Record<string, unknown>
  /**
   * `client`: a client of the API answers. `worker`: the session's worker answers. In both cases `run` is never called.
   */
  readonly runs: 'here' | 'client' | 'worker'
  /**
   * `passed`: the receiver of the input checks it. Schemas of other people are never run here, because a pattern may
   * run for ever.
   */
  readonly input: 'checked' | 'passed'
  /** For a tool of an MCP server: the names that the agent and the server use. */
  readonly mcp?: { server: string; tool: string }
  /** Calls of this tool are shown as the thread of the advisor. Their events are extensions. */
  readonly asks?: 'advisor'
  readonly permission: 'allow' | 'ask' | 'auto'
  /** `safe`: a call that may have run already can be repeated after a crash. */
  readonly repeat: 'safe' | 'never'
  /**
   * How a call uses the sandbox. Calls of one answer run at once, but none overtakes a call that changes the sandbox.
   */
  readonly sandbox: 'unused' | 'read' | 'changed'
  /** Called when the model begins to write a call's input, so that a slow start overlaps with it. Must not throw. */
  prepare(): void
  /**
   * Resolves soon after an abort, with an error result that says so. `call`: the id of the call's event, when a turn
   * runs the tool. `output`: hears what a command in the sandbox writes while it runs.
   */
  run(
    input: Record<string, unknown>,
    options: { signal: AbortSignal; call?: string; output?: OutputListener | undefined },
  ): Promise<ToolResult>
}

/** `whole`: a file in the sandbox with the whole text when `content` has only part of it. */
export type SandboxResult = ToolResult & { whole?: string }

/** A built-in tool: the same in every session, except for its sandbox. */
export type SandboxTool = Pick<Tool, 'name' | 'description' | 'input_schema' | 'repeat'> & {
  run(
    sandbox: Sandbox,
    input: Record<string, unknown>,
    signal: AbortSignal,
    output?: OutputListener,
  ): Promise<SandboxResult>
}

export const textResult = (text: string, is_error = false): ToolResult => ({
  content: [{ type: 'text', text }],
  is_error,
})
