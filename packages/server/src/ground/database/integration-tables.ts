import type {
  DeliveryState,
  InstallationStatus,
  IntegrationId,
  PublicationSpec,
  PublicationStatus,
} from '@steward/protocol/integrations.ts'
import type { Json } from '../core/json-text.ts'
import type { Sealed } from '../core/seal.ts'

/** Plain JSON that an adapter stores: small, and never a secret. */
type AdapterNotes = { readonly [name: string]: string | number | null }

/** A file that the author sent with a message. `size`: bytes, by the provider. `file_id`: set once it is stored. */
export type IncomingFile = {
  name: string
  media_type: string
  size: number
  url: string
  file_id?: string
}

/** A delivery of an allowed author. */
export type AllowedDelivery =
  | {
      kind: 'message'
      scope: string
      author: string
      text: string
      context: Readonly<Record<string, string | null>>
      target: AdapterNotes
      files?: readonly IncomingFile[]
      questions?: readonly string[]
    }
  | {
      kind: 'decision'
      scope: string
      author: string
      call: string
      message: string
      result: 'allow' | 'deny'
    }
  | { kind: 'interrupt'; scope: string; author: string }

/** A telling that was started. `target`: the target of the thread at that time. */
type StartedTelling = { id: string; attempts: number; target?: AdapterNotes }

/** A telling that comes before the session's log. */
type FirstTelling =
  | { kind: 'accepted'; id: string }
  | { kind: 'error'; id: string; message: string }

export type IntegrationTables = {
  /** An app of this service in an external workspace. */
  installations: {
    tenant_id: string
    id: string
    integration: IntegrationId
    external_id: string
    external_name: string
    bot_user_id: string | null
    scopes: Json<string[]>
    status: InstallationStatus
    /** `tokens`: sealed JSON. Null: the app creates its tokens itself. */
    sealed_tokens: Json<{ tokens: Sealed }> | null
    /** The process that requests a new token, and until when it may. */
    token_owner: string | null
    token_until_ms: number
    created_at: string
    updated_at: string
  }
  /** Maps an external workspace to its tenant, because the deliveries of all tenants arrive at one address. */
  installation_places: {
    integration: IntegrationId
    external_id: string
    tenant_id: string
    installation_id: string
  }
  /**
   * An installation that was started. Its row is used once, by the hash of the state that the provider returns. Or an
   * installation that is being finished, by its own id: until `expires_ms` its place is kept for it.
   */
  install_states: {
    id: string
    tenant_id: string
    integration: IntegrationId
    /** The person who started it. Null: a key did. */
    user_id: string | null
    expires_ms: number
  }
  publications: {
    tenant_id: string
    id: string
    integration: IntegrationId
    /** Null for a kind of integration without installations. */
    installation_id: string | null
    agent_id: string
    /** Null: the newest version. */
    agent_version: number | null
    environment_id: string
    /** The vault with the app's token for calls of agents, and when that token is renewed. */
    vault_id: string | null
    token_due_ms: number | null
    spec: Json<PublicationSpec>
    /** `signing`: signs the deliveries and answers of this publication only. */
    sealed_secrets: Json<{ signing: Sealed }> | null
    status: PublicationStatus
    metadata: Json<Record<string, string>>
    created_at: string
    updated_at: string
  }
  /** Deliveries for a publication. Ids sort by arrival. */
  integration_deliveries: {
    tenant_id: string
    id: string
    publication_id: string
    /** The sender's id of the delivery. Each id is processed once. */
    external_id: string
    state: DeliveryState
    reason: string | null
    scope: string | null
    author: string | null
    /** Null once it was posted to a session, and when it was ignored. */
    received: Json<AllowedDelivery> | null
    session_id: string | null
    /** Attempts so far, and when the next one is due. Null: no further attempt. */
    begun: number
    due_ms: number | null
    created_at: string
  }
  /** An external thread: its session, and the progress of its tellings. */
  integration_threads: {
    tenant_id: string
    id: string
    publication_id: string
    scope: string
    session_id: string | null
    target: Json<AdapterNotes>
    /** State of the adapter, from one telling to the next. */
    notes: Json<AdapterNotes>
    /** A telling that comes before the next event of the log. */
    first: Json<FirstTelling> | null
    /** The number of the last event that was told or needs no telling. */
    told_seq: number
    /** Number of tellings of the next event that were told. */
    told_parts: number
    /** The telling that was started and may have arrived. */
    begun: Json<StartedTelling> | null
    /** When the token of the session's repository is renewed. Null: no token. */
    token_due_ms: number | null
    /** When a job looks at the thread again. Null: nothing is expected. */
    due_ms: number | null
    owner: string | null
    expires_at: number
  }
}
