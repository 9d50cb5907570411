/** The interface of a harness: one turn in, its events out. A harness knows no tenant, database or HTTP server. */
import type { GateRefusal } from '@steward/gate/outbound.ts'
import type { Model } from '@steward/model/model.ts'
import type { AgentConfig } from '@steward/protocol/agents.ts'
import type { StopReason } from '@steward/protocol/events.ts'
import type { OutputListener } from '@steward/sandbox/output/follow.ts'
import type { Compaction } from './compaction/settings.ts'
import type { History } from './history.ts'
import type { KeptEvent } from './kept-event.ts'
import type { McpServers } from './tools/mcp/servers.ts'
import type { CallEffect } from './effects.ts'
import type { Tool, ToolResult } from './tools/tool.ts'

/** A tool call without a result in the history, and the decision about it. */
export type OpenCall = {
  /** Id of its tool-use event. */
  event_id: string
  name: string
  input: Record<string, unknown>
  /**
   * `run`: allowed and not started. `deny`: denied by a person. `lost`: started by a process that died; run again only
   * if the tool is safe to repeat. `wait`: not answered yet.
   */
  decision: 'run' | 'deny' | 'lost' | 'wait'
  deny_message?: string
  /** The call belongs to a worker, and so does the form of its result, whatever tools there are now. */
  executed_by?: 'worker'
}

/** `told`: the model also sees it, with the next tool result. */
export type TurnNotice = { reason: string; message: string; told?: boolean }

export type Turn = {
  /** The name of the harness that the agent chose. */
  harness: AgentConfig['harness']
  /** The whole system prompt, see prompt.ts. */
  system: string
  /** All messages so far. The turn extends a copy. */
  history: History
  model: Model
  tools: readonly Tool[]
  /** `begin` was called already. Their tools come after the others, and may change at each model request. */
  servers: McpServers
  /** Refused hosts since the last call. The model sees them with the next tool result. */
  refusals: () => readonly GateRefusal[]
  /** Other notices about the sandbox since the last call, for readers of the log. */
  notices: () => readonly TurnNotice[]
  /**
   * Called after each call that may have changed the sandbox, before its result is stored. Returns lines for the model.
   */
  changed: () => Promise<readonly string[]>
  /**
   * Called after each call of any tool, before its result is stored. Returns lines for the model about events that came
   * in the meantime.
   */
  announced: () => Promise<readonly string[]>
  /** Calls to settle before the model is asked. */
  open: readonly OpenCall[]
  /** Id of a `span.model_request_start` that is stored already, for the first request. */
  begun?: string
  /** True when the turn is left as soon as no call runs: then no request begins with the last result. */
  isLeft?: () => boolean
  /**
   * Asked before each model request. False: the session has spent its budget, and the turn ends with `budget_reached`.
   */
  mayAsk?: () => Promise<boolean>
  /**
   * Called before each model request but the first of a turn. The history with the messages that have joined the turn;
   * undefined where none has.
   */
  joined?: () => Promise<History | undefined>
  /** The number of the newest event that the provider has accepted, to fork the session at; undefined where none is. */
  accepted?: () => Promise<number | undefined>
  cacheKey: string
  /** A JSON Schema that the texts of the model must match. */
  answerSchema?: Record<string, unknown> | undefined
  /** W3C Trace Context that requests to models carry; undefined where nobody traces the turn. */
  traceparent?: () => string | undefined
  /** Settings that keep the history within the model's context. */
  compaction: Compaction
  /** Number of model requests after which the turn ends with an error. */
  maxRequests: number
  /** Delays before repeating a failed model request; the number of entries is the number of retries. */
  retryDelaysMs: readonly number[]
  /** Resolves after the time, or at once when the signal aborts. */
  sleep: (ms: number, signal: AbortSignal) => Promise<void>
  newEventId: () => string
  /** Aborts for a person's interrupt and for a lost lease. */
  signal: AbortSignal
  /** Hears what the command of a call writes while it runs. */
  output?: (call: string) => OutputListener
  /** Called with the error of a tool that threw, which is a bug. The model sees only that the tool failed. */
  report: (error: unknown) => void
}

/** The families that stream before their event is stored. `id` is that event's id. */
export type StreamedType = 'agent.message' | 'agent.thinking' | 'agent.tool_use_input'

/** Live only; never stored. */
export type LiveFrame =
  | { kind: 'start'; of: StreamedType; id: string; name?: string }
  | { kind: 'chunk'; of: StreamedType; id: string; delta: string }
  | { kind: 'end'; of: StreamedType; id: string }
  | { kind: 'first_token'; id: string; ms: number }

/**
 * A `keep` is durable before the generator is resumed, because the next step may have effects. All events of one `keep`
 * are stored together or not at all, with the effect of the result that comes first among them.
 */
export type TurnStep =
  | { type: 'keep'; kept: KeptEvent[]; effect?: CallEffect }
  | { type: 'frame'; frame: LiveFrame }

/**
 * The outcome of a `keep` with an effect. `refused`: nothing was stored. `added`: events that were stored behind the
 * result.
 */
export type KeepReply = { refused: string } | { added: KeptEvent[] } | undefined

/**
 * Runs until the model has nothing more to do, a person or client must act, or the signal aborts. Never throws for an
 * error of the model or a tool. Returns why the turn stopped, and `last`: events that the caller stores together with
 * the idle event, so that the end of a turn is one commit. When the turn ends for another reason than
 * `requires_action`, the caller closes the calls that still wait, because only the caller knows whether an answer has
 * come. Returning the generator ends the model's stream and every running tool.
 */
export type RunTurn = (turn: Turn) => AsyncGenerator<TurnStep, TurnEnd, KeepReply>
export type TurnEnd = { stop: StopReason; last: KeptEvent[] }

export type { KeptEvent, StopReason, Tool, ToolResult }
