/** Every table as a type. Times are ISO text as on the wire; `…_ms` and `expires_at` of leases are numbers. */
import type { Sealed } from '../core/seal.ts'

/** JSON as text, parsed where it is read. */
type Json = string

export type Tables = {
  settings: { name: string; value: string }
  workspaces: { id: string; name: string; created_at: string }
  api_keys: {
    tenant_id: string
    id: string
    kind: 'workspace' | 'environment'
    name: string
    admin: number
    environment_id: string | null
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
    config: Json
    archived_at: string | null
    created_at: string
    updated_at: string
  }
  agent_versions: {
    tenant_id: string
    agent_id: string
    version: number
    config: Json
    /** Server name to sealed token. */
    sealed_tokens: Json
    created_at: string
  }
  environments: {
    tenant_id: string
    id: string
    name: string
    record: Json
    archived_at: string | null
    created_at: string
    updated_at: string
  }
  model_cards: {
    tenant_id: string
    id: string
    model_id: string
    model: string
    card: Json
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
    agent: Json
    environment_id: string
    title: string | null
    metadata: Json
    archived_at: string | null
    deleted_at: string | null
    created_at: string
    updated_at: string
  }
  session_heads: SessionHeads
  inbox: {
    tenant_id: string
    session_id: string
    position: number
    id: string
    type: string
    event: Json
    created_at: string
  }
  events: {
    tenant_id: string
    session_id: string
    seq: number
    id: string
    type: string
    created_at: string
    processed_at: string | null
    data: Json
    /** What only the next model request needs; never shown. */
    opaque: string | null
  }
  calls: {
    tenant_id: string
    session_id: string
    event_id: string
    seq: number
    state: CallState
    deny_message: string | null
  }
}

/** `asked` and `waiting` need a person or a client; `started` has begun; `done` has its result in the log. */
export type CallState = 'asked' | 'waiting' | 'allowed' | 'denied' | 'started' | 'done'

/** The row that every append to a session's log updates, and the lease of its runner. */
type SessionHeads = {
  tenant_id: string
  session_id: string
  next_seq: number
  next_position: number
  status: string
  stop_reason: Json | null
  /** 1 while there is something for a runner to do. */
  due: number
  owner: string | null
  generation: number
  expires_at: number
  running_since_ms: number | null
  active_ms: number
  input_tokens: number
  output_tokens: number
  cache_read_input_tokens: number
  cache_creation_input_tokens: number
}
