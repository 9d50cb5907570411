/** Every table as a type. Times are ISO text as on the wire; `…_ms` and `expires_at` of leases are milliseconds. */
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
import type { Allowance } from '@steward/protocol/allowances.ts'
import type { SessionAgent, SessionStatus } from '@steward/protocol/sessions.ts'
import type { StdioServer } from '@steward/protocol/stdio-servers.ts'
import type { CredentialAuth } from '@steward/protocol/vaults.ts'
import type { CreatorColumns } from '../core/creator.ts'
import type { Json } from '../core/json-text.ts'

/** Tokens of MCP servers by the names of the servers. */
export type SealedTokens = Record<string, Sealed>

/** A part of a credential that may be secret. Each is sealed by itself, so that one can be replaced without another. */
export type SecretPart =
  | 'token'
  | 'access_token'
  | 'refresh_token'
  | 'client_secret'
  | 'secret_value'
export type SealedSecrets = Partial<Record<SecretPart, Sealed>>

/** The `card` of a row: everything that is neither an index nor a secret. */
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
    /** The reach of an environment key: the work of its environment, or its sessions too. Null for a workspace key. */
    reach: 'work' | 'sessions' | null
    read_only: number
    /** The person or the key that created this key. Null: the operator did. */
    created_by: string | null
    last_used_at: string | null
    hash: string
    preview: string
    expires_at: string | null
    revoked_at: string | null
    /** Null for a key that is only deactivated: an admin may activate it again. */
    archived_at: string | null
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
    /** Sealed tokens by server name. */
    sealed_tokens: Json<SealedTokens>
    created_at: string
  } & CreatorColumns
  environments: {
    tenant_id: string
    id: string
    name: string
    record: Json<EnvironmentRecord>
    /** Least milliseconds for which a claimed item stays reserved, whatever a poll requests. */
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
    /** 1 when the environment is self-hosted, which never changes. */
    self_hosted: number
    title: string | null
    metadata: Json<Record<string, string>>
    /** Ids of the vaults, in their order. */
    vault_ids: Json<string[]>
    /** Sealed tokens by server name when the session has its own servers. Null: the agent version's tokens count. */
    sealed_tokens: Json<SealedTokens> | null
    /** Grows with each change of the files that are mounted into the session's sandbox. */
    files_revision: number
    archived_at: string | null
    deleted_at: string | null
    created_at: string
    updated_at: string
    /** The agents that the session's agent may start, without itself. Null: none. */
    roster: Json<SessionAgent[]> | null
    deployment_id: string | null
    /** The origin of a fork. Null: the session is no fork. */
    forked_from: Json<ForkedFrom> | null
    /** Tools that run without asking. Null: none were ever allowed. */
    allowances: Json<Allowance[]> | null
  } & CreatorColumns
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
    /** The kind and the destination of the credential, without secrets. */
    auth: Json<CredentialAuth>
    /** The secret parts by name, each sealed by itself. Null once the credential is archived. */
    sealed: Json<SealedSecrets> | null
    /** The destination as one text, unique among the active credentials of a vault. */
    binding: string
    /** Grows with every change of `auth` or `sealed`. */
    revision: number
    /** The process that refreshes the credential, and until when it may. */
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
    /** The session that has the file in its sandbox. The file is deleted with the session. */
    session_id: string | null
    /** `upload`: by a caller. `copy`: a session's own copy of a file. `output`: by a turn. */
    origin: 'upload' | 'copy' | 'output'
    filename: string
    mime_type: string
    size_bytes: number
    sha256: string
    /** The blob, shared with copies. Null once the blob is deleted. */
    blob_key: string | null
    downloadable: number
    expires_at: string | null
    created_at: string
  }
  /** The current file of each output of a session. Files of earlier contents stay in `files`. */
  outputs: {
    tenant_id: string
    session_id: string
    filename: string
    /** The row stays when the file is deleted, so that the same content is not published again. */
    file_id: string
    sha256: string
  }
  skills: {
    tenant_id: string
    id: string
    name: string
    display_title: string | null
    /** The description of the latest version. */
    description: string
    /** The number of the latest version, as digits. Null once all versions are deleted. */
    latest_version: string | null
    /** The highest number that was ever used. Numbers are not used again. */
    newest_version: string
    created_at: string
    updated_at: string
  }
  skill_versions: {
    tenant_id: string
    skill_id: string
    /** `skver_` and a fixed count of digits. */
    id: string
    name: string
    description: string
    directory: string
    size_bytes: number
    sha256: string
    /** The blob of the version's archive. */
    blob_key: string
    created_at: string
    /** Paths of the version's files, relative to its folder. */
    files: Json<string[]>
  }
  /** The last report of the session's worker about its stdio servers. */
  stdio_reports: {
    tenant_id: string
    session_id: string
    /** The work item and the generation of the reporting claim. */
    work_id: string
    generation: number
    servers: Json<StdioServer[]>
  }
  /** Leases for the build of a layer of installs. */
  package_builds: { tenant_id: string; layer: string; owner: string; expires_at: number }
  /** Marked blobs. A job deletes each when it is due, unless a row holds it by then. */
  loose_blobs: { tenant_id: string; blob_key: string; due_ms: number }
  session_resources: {
    tenant_id: string
    session_id: string
    id: string
    type: ResourceType
    /** The fields of the resource's type, as the wire shows them. */
    fields: Json<ResourceFields>
    /** The id of the session's own copy of a file, or the id of the memory store. */
    refers_to: string | null
    sealed_token: Sealed | null
    /** When the resource was copied into the working folder, where it stays. Null: it is mounted into each sandbox. */
    mounted_at: string | null
    /** The path as the caller sent it, and the absolute path in the sandbox. */
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

/** `done`: archived. `failed`: a word of the wire that nothing sets. `deleted`: a job still removes files and rows. */
export type HeadStatus = SessionStatus | 'rescheduling' | 'deleted'

/** The row that every append to a session's log updates, and the lease of its runner. */
type SessionHeads = HeadOutcome &
  HeadSpending & {
    tenant_id: string
    session_id: string
    next_seq: number
    next_position: number
    /** Bytes of all messages that ever entered the inbox. */
    inbox_bytes: number
    status: HeadStatus
    stop_reason: Json<StopReason> | null
    /** 1 while the session has work for a runner. */
    due: number
    owner: string | null
    /** The owner before the present one. Null when that owner had released the session. */
    previous_owner: string | null
    generation: number
    expires_at: number
    /**
     * Number of times that the session was taken from a failed owner since the last progress of its turn was stored.
     */
    recoveries: number
    running_since_ms: number | null
    active_ms: number
    /** When the session last became idle. */
    idle_since_ms: number | null
    input_tokens: number
    output_tokens: number
    cache_read_input_tokens: number
    cache_creation_input_tokens: number
    /** Milliseconds that the slowest stdio server may take to start. Null: a worker starts none. */
    stdio_ms: number | null
    /** 1 while the turn waits for the worker's report about stdio servers. */
    awaits_stdio: number
    /** 1 when the session has MCP servers by URL. The first model request of a turn waits for them. */
    url_servers: number
    /** Turns that have begun. Null: they were not counted from the beginning, and the log tells them. */
    turns: number | null
    /** When the session last began, came to rest or was updated, rounded down to a minute. */
    changed_ms: number
    /** 1 once the session has rows in `threads`. `status` and `idle_since_ms` then cover all its threads. */
    threads: number
  }
