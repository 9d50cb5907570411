/** The harness's door: one turn in, its events out. It knows no tenant, database or HTTP server. */
import type { Refusal } from '@steward/gate/outbound.ts'
import type { Model } from '@steward/model/model.ts'
import type { AgentConfig } from '@steward/protocol/agents.ts'
import type { StopReason } from '@steward/protocol/events.ts'
import type { Compaction } from './compaction/settings.ts'
import type { History } from './history.ts'
import type { KeptEvent } from './kept.ts'
import type { McpServers } from './tools/mcp/servers.ts'
import type { Tool, ToolResult } from './tools/tool.ts'

/** A tool call that stands in the history without a result, and what has been decided about it. */
export type OpenCall = {
  /** Id of its tool-use event. */
  event_id: string
  name: string
  input: Record<string, unknown>
  /**
   * `run`: allowed, not begun. `deny`: refused by a person. `lost`: begun by a process that died; run again only
   * when the tool is safe to repeat. `wait`: nobody has answered yet.
   */
  decision: 'run' | 'deny' | 'lost' | 'wait'
  deny_message?: string
  /** It is a worker's, and so is the form of its result, whatever tools there are now. */
  executed_by?: 'worker'
}

/** `told`: the model learns of it too, with the result of what ran. */
export type Notice = { reason: string; message: string; told?: boolean }

export type Turn = {
  /** The name by which the agent chose how its turns are run. */
  harness: AgentConfig['harness']
  /** The whole system prompt; see prompt.ts. */
  system: string
  /** Everything said so far; the turn goes on with a copy of its own. */
  history: History
  model: Model
  tools: readonly Tool[]
  /** Begun already. Their tools stand behind the others, and may be others at each model request. */
  servers: McpServers
  /** Hosts that were refused since it was last asked; the model learns of them with the result of what ran. */
  refusals: () => readonly Refusal[]
  /** What else whoever reads the log should know of where tools ran, since it was last asked. */
  notices: () => readonly Notice[]
  /** After each call that may have changed the sandbox, before its result is kept: lines for the model. */
  changed: () => Promise<readonly string[]>
  /** After each call of any tool, before its result is kept: lines for the model on what came meanwhile. */
  announced: () => Promise<readonly string[]>
  /** Calls to settle before the model is asked. */
  open: readonly OpenCall[]
  /** Id of a `span.model_request_start` that stands in the log already, for the first request. */
  begun?: string
  cacheKey: string
  /** How the history is kept within the model's context. */
  compaction: Compaction
  /** Model requests a turn may make before it is ended with an error. */
  maxRequests: number
  /** Waits before another attempt of a failed model request; as many retries as there are entries. */
  retryDelaysMs: readonly number[]
  /** Resolves after the time, or at once when the signal aborts. */
  sleep: (ms: number, signal: AbortSignal) => Promise<void>
  newEventId: () => string
  /** A person's interrupt, or a lost lease. */
  signal: AbortSignal
  /** Told of a tool that threw, which is a bug of ours; the model only learns that it failed. */
  report: (error: unknown) => void
}

/** The three families that stream before their event is kept; `id` is that event's id. */
export type StreamedType = 'agent.message' | 'agent.thinking' | 'agent.tool_use_input'

/** Live only; never kept. */
export type LiveFrame =
  | { kind: 'start'; of: StreamedType; id: string; name?: string }
  | { kind: 'chunk'; of: StreamedType; id: string; delta: string }
  | { kind: 'end'; of: StreamedType; id: string }
  | { kind: 'first_token'; id: string; ms: number }

/**
 * A `keep` is durable before the generator is resumed: what follows it may have effects.
 * All events of one `keep` are kept together or not at all.
 */
export type TurnStep = { type: 'keep'; kept: KeptEvent[] } | { type: 'frame'; frame: LiveFrame }

/**
 * Runs until the model has nothing more to do, someone must act, or the signal aborts; never throws for what the
 * model or a tool does. The value it returns is why it stopped, and `last`: events to keep together with the idle
 * that the caller appends, so that the end of a turn is one commit. When the turn ends for another reason than
 * `requires_action`, calls that still wait for someone are the caller's to close: it alone knows whether an answer
 * has come meanwhile. Returning the generator ends the model's stream and every tool that runs.
 */
export type RunTurn = (turn: Turn) => AsyncGenerator<TurnStep, TurnEnd, void>
export type TurnEnd = { stop: StopReason; last: KeptEvent[] }

export type { KeptEvent, StopReason, Tool, ToolResult }
