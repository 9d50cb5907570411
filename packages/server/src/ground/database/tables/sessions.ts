import type { Allowance } from '@steward/protocol/allowances.ts'
import type { StopReason } from '@steward/protocol/events.ts'
import type { ForkedFrom } from '@steward/protocol/forks.ts'
import type { ResourceFields, ResourceType } from '@steward/protocol/session-resources.ts'
import type { SessionAgent, SessionStatus } from '@steward/protocol/sessions.ts'
import type { StdioServer } from '@steward/protocol/stdio-servers.ts'
import type { SealedTokens } from './agents.ts'
import { creatorGroup } from './creator.ts'
import { headOutcome } from './outcomes.ts'
import { headSpending } from './usage.ts'
import { json, nullable, number, sealed, sealedJson, table, text } from '../table.ts'
import { tokenColumns } from './tokens.ts'

/** `done`: archived. `failed`: a word of the wire that nothing sets. `deleted`: a job still removes files and rows. */
export type HeadStatus = SessionStatus | 'rescheduling' | 'deleted'

export const sessionTables = {
  sessions: table({
    rows: 'tenant',
    key: ['tenant_id', 'id'],
    removed: 'with its session',
    columns: {
      tenant_id: text(),
      id: text(),
      agent_id: text(),
      agent_version: number(),
      agent: json<SessionAgent>(),
      environment_id: text(),
      /** 1 when the environment is self-hosted, which never changes. */
      self_hosted: number(),
      title: nullable(text()),
      metadata: json<Record<string, string>>(),
      /** Ids of the vaults, in their order. */
      vault_ids: json<string[]>(),
      /** Sealed tokens by server name when the session has its own servers. Null: the agent version's tokens count. */
      sealed_tokens: nullable(sealedJson<SealedTokens>()),
      /** Grows with each change of the files that are mounted into the session's sandbox. */
      files_revision: number(),
      archived_at: nullable(text()),
      deleted_at: nullable(text()),
      created_at: text(),
      updated_at: text(),
      /** The agents that the session's agent may start, without itself. Null: none. */
      roster: nullable(json<SessionAgent[]>()),
      deployment_id: nullable(text()),
      /** The origin of a fork. Null: the session is no fork. */
      forked_from: nullable(json<ForkedFrom>()),
      /** Tools that run without asking. Null: none were ever allowed. */
      allowances: nullable(json<Allowance[]>()),
      /** The folder of the outputs below `/workspace`. Null: `/mnt/session/outputs`. */
      outputs_path: nullable(text()),
      ...creatorGroup,
    },
  }),
  /** The row that every append to a session's log updates, and the lease of its runner. */
  session_heads: table({
    rows: 'tenant',
    key: ['session_id'],
    removed: 'with its session',
    lease: { owner: 'owner', expires: 'expires_at' },
    columns: {
      tenant_id: text(),
      session_id: text(),
      next_seq: number(),
      next_position: number(),
      /** Bytes of all messages that ever entered the inbox. */
      inbox_bytes: number(),
      status: text<HeadStatus>(),
      stop_reason: nullable(json<StopReason>()),
      /** 1 while the session has work for a runner. */
      due: number(),
      owner: nullable(text()),
      /** The owner before the present one. Null when that owner had released the session. */
      previous_owner: nullable(text()),
      generation: number(),
      expires_at: number(),
      /**
       * Number of times that the session was taken from a failed owner since the last progress of its turn was stored.
       */
      recoveries: number(),
      running_since_ms: nullable(number()),
      active_ms: number(),
      /** When the session last became idle. */
      idle_since_ms: nullable(number()),
      ...tokenColumns,
      /** Milliseconds that the slowest stdio server may take to start. Null: a worker starts none. */
      stdio_ms: nullable(number()),
      /** 1 while the turn waits for the worker's report about stdio servers. */
      awaits_stdio: number(),
      /** 1 when the session has MCP servers by URL. The first model request of a turn waits for them. */
      url_servers: number(),
      /** Turns that have begun. Null: they were not counted from the beginning, and the log tells them. */
      turns: nullable(number()),
      /** When the session last began, came to rest or was updated, rounded down to a minute. */
      changed_ms: number(),
      /** 1 once the session has rows in `threads`. `status` and `idle_since_ms` then cover all its threads. */
      threads: number(),
      ...headOutcome,
      ...headSpending,
    },
  }),
  session_resources: table({
    rows: 'tenant',
    key: ['tenant_id', 'session_id', 'id'],
    columns: {
      tenant_id: text(),
      session_id: text(),
      id: text(),
      type: text<ResourceType>(),
      /** The fields of the resource's type, as the wire shows them. */
      fields: json<ResourceFields>(),
      /** The id of the session's own copy of a file, or the id of the memory store. */
      refers_to: nullable(text()),
      sealed_token: nullable(sealed()),
      /** When the resource was copied into the working folder, where it stays. Null: it is mounted into each sandbox. */
      mounted_at: nullable(text()),
      /** The path as the caller sent it, and the absolute path in the sandbox. */
      mount_path: text(),
      resolved_path: text(),
      created_at: text(),
      updated_at: text(),
    },
  }),
  /** The last report of the session's worker about its stdio servers. */
  stdio_reports: table({
    rows: 'tenant',
    key: ['tenant_id', 'session_id'],
    columns: {
      tenant_id: text(),
      session_id: text(),
      /** The work item and the generation of the reporting claim. */
      work_id: text(),
      generation: number(),
      servers: json<StdioServer[]>(),
    },
  }),
}
