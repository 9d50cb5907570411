/** Every table as a type. Times are ISO text as on the wire; `…_ms` and `expires_at` of leases are numbers. */
import type { Sealed } from '../core/seal.ts'
import type { TenantDatabaseTables } from './tenant-tables.ts'
import type { AuditTables, ChainColumns } from './audit-tables.ts'
import type { LogTables } from './log-tables.ts'
import type { CheckpointTables } from './checkpoint-tables.ts'
import type { MemoryTables } from './memory-tables.ts'
import type { PeopleTables } from './people-tables.ts'
import type { LimitTables } from './limit-tables.ts'
import type { CapabilityTables } from './capability-tables.ts'
import type { IdempotencyTables } from './idempotency-tables.ts'
import type { HeadOutcome, OutcomeTables } from './outcome-tables.ts'
import type { ThreadTables } from './thread-tables.ts'
import type { HeadSpending, UsageTables } from './usage-tables.ts'
import type { WakeupTables } from './wakeup-tables.ts'
import type { WebhookTables } from './webhook-tables.ts'
import type { WorkTables } from './work-tables.ts'
import type { WorkspaceTables } from './workspace-tables.ts'
import type { AgentConfig } from '@steward/protocol/agents.ts'
import type { EnvironmentRecord } from '@steward/protocol/environments.ts'
import type { StopReason } from '@steward/protocol/events.ts'
import type { NativeConfig } from '@steward/protocol/model-cards.ts'
import type { ResourceFields, ResourceType } from '@steward/protocol/session-resources.ts'
import type { ForkedFrom } from '@steward/protocol/forks.ts'
import type { SessionAgent, SessionStatus } from '@steward/protocol/sessions.ts'
import type { StdioServer } from '@steward/protocol/stdio-servers.ts'
import type { CredentialAuth } from '@steward/protocol/vaults.ts'
import type { Json } from '../core/json-text.ts'

/** Tokens of MCP servers by the names of the servers. */
export type SealedTokens = Record<string, Sealed>

/** A part of a credential that may be secret; each is sealed alone, so that one is replaced without opening another. */
export type SecretPart =
  | 'token'
  | 'access_token'
  | 'refresh_token'
  | 'client_secret'
  | 'secret_value'
export type SealedSecrets = Partial<Record<SecretPart, Sealed>>

/** What a row's `card` holds: everything that is neither an index nor a secret. */
export type CardFacts = {
  provider: string
  display_name: string | null
  base_url: string | null
  header_names: string[]
  native_config: NativeConfig | null
}

type OtherTables = AuditTables &
  CapabilityTables &
  LogTables &
  CheckpointTables &
  TenantDatabaseTables &
  MemoryTables &
  PeopleTables &
  LimitTables &
  OutcomeTables &
  IdempotencyTables &
  ThreadTables &
  UsageTables &
  WakeupTables &
  WebhookTables &
  WorkTables &
  WorkspaceTables

export type Tables = OtherTables & {
  settings: { name: string; value: string }
  api_keys: {
    tenant_id: string
    id: string
    kind: 'workspace' | 'environment'
    name: string
    admin: number
    environment_id: string | null
    /** What an environment key opens besides the work of its environment; null for a workspace key. */
    reach: 'work' | 'sessions' | null
    read_only: number
    /** The person or the key that made it; null for an operator's. */
    created_by: string | null
    last_used_at: string | null
    hash: string
    preview: string
    expires_at: string | null
    revoked_at: string | null
    created_at: string
  }
  agents: {
    tenant_id: string
    id: string
    version: number
    environment_id: string | null
    config: Json<AgentConfig>
    archived_at: string | null
    created_at: string
    updated_at: string
  }
  agent_versions: {
    tenant_id: string
    agent_id: string
    version: number
    config: Json<AgentConfig>
    /** Server name to sealed token. */
    sealed_tokens: Json<SealedTokens>
    created_at: string
  }
  environments: {
    tenant_id: string
    id: string
    name: string
    record: Json<EnvironmentRecord>
    /** How long an item that was handed out stays hidden at least, whatever a poll asks for. */
    reclaim_ms: number
    archived_at: string | null
    created_at: string
    updated_at: string
  }
  model_cards: {
    tenant_id: string
    id: string
    model_id: string
    model: string
    card: Json<CardFacts>
    sealed_key: Sealed
    sealed_headers: Sealed | null
    api_key_preview: string
    created_at: string
    updated_at: string
  }
  sessions: {
    tenant_id: string
    id: string
    agent_id: string
    agent_version: number
    agent: Json<SessionAgent>
    environment_id: string
    /** Whether its environment is, which never changes. */
    self_hosted: number
    title: string | null
    metadata: Json<Record<string, string>>
    /** In their order. */
    vault_ids: Json<string[]>
    /** Server name to sealed token, where the session has servers of its own; else the agent version's hold. */
    sealed_tokens: Json<SealedTokens> | null
    /** Counts changes of the files that lie in its sandbox. */
    files_revision: number
    archived_at: string | null
    deleted_at: string | null
    created_at: string
    updated_at: string
    /** The agents that its agent may start, without the agent itself; null where there are none. */
    roster: Json<SessionAgent[]> | null
    deployment_id: string | null
    /** Null where its log began with itself. */
    forked_from: Json<ForkedFrom> | null
  }
  session_heads: SessionHeads
  vaults: {
    tenant_id: string
    id: string
    name: string
    metadata: Json<Record<string, string>>
    archived_at: string | null
    created_at: string
    updated_at: string
  }
  vault_credentials: {
    tenant_id: string
    id: string
    vault_id: string
    display_name: string | null
    metadata: Json<Record<string, string>>
    /** What it is for, without any secret. */
    auth: Json<CredentialAuth>
    /** Each secret part sealed alone, by name; null once archived: they are gone. */
    sealed: Json<SealedSecrets> | null
    /** What it is for as one text, unique among the active ones of a vault. */
    binding: string
    /** Raised by every change of `auth` or `sealed`. */
    revision: number
    /** The process that refreshes it, until the time. */
    refresh_owner: string | null
    refresh_until_ms: number
    archived_at: string | null
    created_at: string
    updated_at: string
  }
  credential_uses: {
    tenant_id: string
    id: string
    session_id: string
    vault_id: string | null
    credential_id: string | null
    caller: string
    server: string
    host: string
    method: string
    status: number | null
    refreshed: number
    ms: number | null
    created_at: string
  } & ChainColumns
  files: {
    tenant_id: string
    id: string
    /** Whose sandbox it lies in, and with which it goes. */
    session_id: string | null
    /** What brought it: a caller, a session that brings in a file of its own form, or a turn. */
    origin: 'upload' | 'copy' | 'output'
    filename: string
    mime_type: string
    size_bytes: number
    sha256: string
    /** Shared with copies; null once its bytes were let go. */
    blob_key: string | null
    downloadable: number
    expires_at: string | null
    created_at: string
  }
  /** What a session shows as its outputs; a file of an earlier content stays beside the one named here. */
  outputs: {
    tenant_id: string
    session_id: string
    filename: string
    /** The row stays when its file is deleted: that content is not published again. */
    file_id: string
    sha256: string
  }
  skills: {
    tenant_id: string
    id: string
    name: string
    display_title: string | null
    /** The latest version's. */
    description: string
    /** Digits; null once all versions are deleted. */
    latest_version: string | null
    /** The last that was ever given: none is given again. */
    newest_version: string
    created_at: string
    updated_at: string
  }
  skill_versions: {
    tenant_id: string
    skill_id: string
    /** `skver_` and digits, as many for each. */
    id: string
    name: string
    description: string
    directory: string
    size_bytes: number
    sha256: string
    /** Its archive. */
    blob_key: string
    created_at: string
    /** Their names, below the folder. */
    files: Json<string[]>
  }
  /** What the session's worker said last of its stdio servers. */
  stdio_reports: {
    tenant_id: string
    session_id: string
    /** Who said it. */
    work_id: string
    generation: number
    servers: Json<StdioServer[]>
  }
  /** Who builds a layer of packages now. */
  package_builds: { tenant_id: string; layer: string; owner: string; expires_at: number }
  /** Blobs to be removed when the time has come, unless a row holds them by then. */
  loose_blobs: { tenant_id: string; blob_key: string; due_ms: number }
  session_resources: {
    tenant_id: string
    session_id: string
    id: string
    type: ResourceType
    /** The fields of its type, as the wire shows them. */
    fields: Json<ResourceFields>
    /** The id of the session's own copy of a file, or of the memory store. */
    refers_to: string | null
    sealed_token: Sealed | null
    /** When the resource came into the working folder, where it stays; null: each sandbox is given it anew. */
    mounted_at: string | null
    /** As it was sent, and where that is in the sandbox. */
    mount_path: string
    resolved_path: string
    created_at: string
    updated_at: string
  }
  credential_changes: {
    tenant_id: string
    id: string
    vault_id: string | null
    credential_id: string | null
    model_card_id: string | null
    change: string
    api_key_id: string | null
    session_id: string | null
    created_at: string
  } & ChainColumns
}

/** `done`: archived. `failed`: a word of the wire that nothing sets. `deleted`: its files and rows are still to be removed. */
export type HeadStatus = SessionStatus | 'rescheduling' | 'deleted'

/** The row that every append to a session's log updates, and the lease of its runner. */
type SessionHeads = HeadOutcome &
  HeadSpending & {
    tenant_id: string
    session_id: string
    next_seq: number
    next_position: number
    /** Of all that was ever put into its inbox. */
    inbox_bytes: number
    status: HeadStatus
    stop_reason: Json<StopReason> | null
    /** 1 while there is something for a runner to do. */
    due: number
    owner: string | null
    /** Whom the present owner took the session from: null when it had been given back. */
    previous_owner: string | null
    generation: number
    expires_at: number
    /** How often it was taken from an owner that failed, since anything of its turn was last kept. */
    recoveries: number
    running_since_ms: number | null
    active_ms: number
    /** When it came to rest last. */
    idle_since_ms: number | null
    input_tokens: number
    output_tokens: number
    cache_read_input_tokens: number
    cache_creation_input_tokens: number
    /** How long the slowest of its stdio servers may take to start; null where a worker has none to start. */
    stdio_ms: number | null
    /** 1 while its turn waits for what its worker says of them. */
    awaits_stdio: number
    /** 1 where it has MCP servers by URL, for which the first model request of a turn waits. */
    url_servers: number
    /** 1 once it has rows in `threads`. Status and rest are of all its threads then. */
    threads: number
  }
