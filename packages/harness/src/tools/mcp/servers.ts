/** The MCP servers of a session: connected side by side, their tools offered as soon as each has answered. */
import type { McpErrorType } from '@steward/protocol/events.ts'
import type { Tool } from '../tool.ts'

export type ServerFailure = { server: string; type: McpErrorType; message: string }

/** Tools that may be others at each model request of a turn. None of the members throws or rejects. */
export interface McpServers {
  /** Connects what is not connected, and returns at once; to be called as early as a turn is known of. */
  begin(): void
  /**
   * Resolves when every server has answered or failed, but waits no longer than the grace; for the servers of the
   * tools that are `needed` it waits until their discovery has ended. Later calls in a turn return at once.
   */
  ready(options: { needed: readonly string[]; signal: AbortSignal }): Promise<void>
  /** In an order that depends on names alone: prompt caches begin with tools. The same array while nothing changed. */
  tools(): readonly Tool[]
  /** What has gone wrong since it was last asked. */
  failures(): ServerFailure[]
  /** Ends every connection; calls that run end with an error result. */
  close(): Promise<void>
}

export const noServers: McpServers = {
  begin() {},
  ready: async () => {},
  tools: () => [],
  failures: () => [],
  close: async () => {},
}
