import type { ResultContent } from '@steward/protocol/content.ts'
import type { Sandbox } from '@steward/sandbox/sandbox.ts'

/** A failing tool is a result the model reads, never a throw. */
export type ToolResult = { content: ResultContent[]; is_error: boolean }

export interface Tool {
  readonly name: string
  readonly description: string
  /** JSON Schema of type object. */
  readonly input_schema: Record<string, unknown>
  /** `client`: the caller of the API answers; `worker`: the session's worker does; `run` is never called for either. */
  readonly runs: 'here' | 'client' | 'worker'
  /**
   * `passed`: whoever gets the input judges it. Schemas that strangers wrote are never run here: a pattern may take
   * for ever.
   */
  readonly input: 'checked' | 'passed'
  /** Of a tool of an MCP server: the names that the agent and the server gave. */
  readonly mcp?: { server: string; tool: string }
  readonly permission: 'allow' | 'ask' | 'auto'
  /** Whether a call that may have happened already can be made again after a crash. */
  readonly repeat: 'safe' | 'never'
  /** What a call does with the session's sandbox. Calls of one answer run at once, but none overtakes a change. */
  readonly sandbox: 'unused' | 'read' | 'changed'
  /** Called when the model begins to write a call's input, so that a slow start overlaps it. Must not throw. */
  prepare(): void
  /** Resolves within reason after the signal aborts, with an error result that says so. */
  run(input: Record<string, unknown>, options: { signal: AbortSignal }): Promise<ToolResult>
}

/** `whole`: a file in the sandbox that holds all of a text which `content` holds only in part. */
export type SandboxResult = ToolResult & { whole?: string }

/** A tool of the built-in toolset: the same in every session, but for the sandbox it is given. */
export type SandboxTool = Pick<Tool, 'name' | 'description' | 'input_schema' | 'repeat'> & {
  run(sandbox: Sandbox, input: Record<string, unknown>, signal: AbortSignal): Promise<SandboxResult>
}

export const textResult = (text: string, is_error = false): ToolResult => ({
  content: [{ type: 'text', text }],
  is_error,
})
