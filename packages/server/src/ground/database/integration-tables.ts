import type {
  DeliveryState,
  InstallationStatus,
  IntegrationId,
  PublicationSpec,
  PublicationStatus,
} from '@steward/protocol/integrations.ts'
import type { Json } from '../core/json-text.ts'
import type { Sealed } from '../core/seal.ts'

/** Plain JSON of an adapter: small, and never a secret. */
type AdapterNotes = { readonly [name: string]: string | number | null }

/** A file that the author has sent with a message. `size`: bytes, as the provider says. `file_id`: once it is kept here. */
export type IncomingFile = {
  name: string
  media_type: string
  size: number
  url: string
  file_id?: string
}

/** What an allowed author has sent. */
export type AllowedDelivery =
  | {
      kind: 'message'
      scope: string
      author: string
      text: string
      context: Readonly<Record<string, string | null>>
      target: AdapterNotes
      files?: readonly IncomingFile[]
    }
  | { kind: 'decision'; scope: string; author: string; call: string; result: 'allow' | 'deny' }
  | { kind: 'interrupt'; scope: string; author: string }

/** By the id of the telling. `target`: of the thread when it was begun. */
type StartedTelling = { id: string; attempts: number; target?: AdapterNotes }

/** What is told before anything that the log of the session holds. */
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
    /** `tokens`: JSON. Null where the app makes its tokens itself. */
    sealed_tokens: Json<{ tokens: Sealed }> | null
    /** Who asks for a new token, and until when. */
    token_owner: string | null
    token_until_ms: number
    created_at: string
    updated_at: string
  }
  /** Whose external workspace it is: deliveries of all come to one address. */
  installation_places: {
    integration: IntegrationId
    external_id: string
    tenant_id: string
    installation_id: string
  }
  /** An installation that was begun. Taken once, by the hash of what the provider brings back. */
  install_states: {
    id: string
    tenant_id: string
    integration: IntegrationId
    /** Who has begun it; null for a key. */
    user_id: string | null
    expires_ms: number
  }
  publications: {
    tenant_id: string
    id: string
    integration: IntegrationId
    /** Null for a kind that nothing is installed of. */
    installation_id: string | null
    agent_id: string
    /** Null: the newest. */
    agent_version: number | null
    environment_id: string
    /** For the token of the app in calls of agents, and when that token is renewed. */
    vault_id: string | null
    token_due_ms: number | null
    spec: Json<PublicationSpec>
    /** `signing`: of the deliveries and answers of this publication alone. */
    sealed_secrets: Json<{ signing: Sealed }> | null
    status: PublicationStatus
    metadata: Json<Record<string, string>>
    created_at: string
    updated_at: string
  }
  /** What came for a publication. Ids sort by their coming. */
  integration_deliveries: {
    tenant_id: string
    id: string
    publication_id: string
    /** By which its sender names it: it is taken once. */
    external_id: string
    state: DeliveryState
    reason: string | null
    scope: string | null
    author: string | null
    /** Null once it has gone into a session, and where it was ignored. */
    received: Json<AllowedDelivery> | null
    session_id: string | null
    /** Attempts so far, and when the next one is due; null once there is none. */
    begun: number
    due_ms: number | null
    created_at: string
  }
  /** An external thread: its session, and what its people were told. */
  integration_threads: {
    tenant_id: string
    id: string
    publication_id: string
    scope: string
    session_id: string | null
    target: Json<AdapterNotes>
    /** Of the adapter, from one telling to the next. */
    notes: Json<AdapterNotes>
    /** Told before what the log has next. */
    first: Json<FirstTelling> | null
    /** The last event that was told, or needed no telling. */
    told_seq: number
    /** Of the event behind that one: how many of its tellings are told. */
    told_parts: number
    /** The telling that was begun, and may have arrived. */
    begun: Json<StartedTelling> | null
    /** When the token of the session's repository is renewed; null without one. */
    token_due_ms: number | null
    /** When to look again; null while nothing is expected. */
    due_ms: number | null
    owner: string | null
    expires_at: number
  }
}
