import type {
  AnswerState,
  DeliveryState,
  InstallationStatus,
  IntegrationId,
  PublicationSpec,
  PublicationStatus,
  WakeKind,
} from '@steward/protocol/integrations.ts'
import type { Sealed } from '../../core/security/seal.ts'
import { json, long, nullable, number, record, sealedJson, table, text } from '../table.ts'

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

/** What an agent reads as data: anyone may have written it. */
export type ContextData =
  | string
  | number
  | boolean
  | null
  | readonly ContextData[]
  | { readonly [label: string]: ContextData }

/** A condition on the author that only the provider can judge, or which is judged by its answer. */
export type AuthorCheck = { readonly [name: string]: string | number | null }

/**
 * Something that has happened to a pull request of an agent. `head`: its newest commit then. `opener`: who has opened the
 * pull request; absent where only the provider can say. `review`: the review that requests changes.
 */
export type Wake = {
  kind: WakeKind
  pull_request: string
  head: string
  opener?: 'agent' | 'other'
  review?: number
}

/**
 * What has woken the agent of a thread. `counts`: for each pull request, how often since a person wrote. `seen`: the
 * newest ones. `told`: the pull requests whose people know that the agent waits for them.
 */
export type WakeCounts = {
  counts: Readonly<Record<string, number>>
  seen: readonly string[]
  told: readonly string[]
}

/**
 * A delivery of an allowed author. `check`: the author is allowed if the provider says so. `isAcknowledged`: the people
 * of the thread are told that it has come.
 */
export type AllowedDelivery = { check?: AuthorCheck; isAcknowledged?: true } & (
  | {
      kind: 'message'
      scope: string
      author: string
      text: string
      context: Readonly<Record<string, ContextData>>
      target: AdapterNotes
      files?: readonly IncomingFile[]
      questions?: readonly string[]
      /** The text mentions nobody. */
      isFollowUp?: true
      wake?: Wake
      /** Set once the files of the context are among `files`. */
      hasContextFiles?: true
    }
  | {
      kind: 'decision'
      scope: string
      author: string
      call: string
      message: string
      result: 'allow' | 'deny'
    }
  | { kind: 'interrupt'; scope: string; author: string; target?: AdapterNotes }
)

/** A telling that was started. `target`: the target of the thread at that time. */
type StartedTelling = { id: string; attempts: number; target?: AdapterNotes }

/** A telling that comes before the session's log. */
export type FirstTelling = { id: string; target?: AdapterNotes } & (
  | { kind: 'accepted' | 'stopped' }
  | { kind: 'error' | 'refused' | 'notice'; message: string }
  | { kind: 'reply'; text: string }
)

/** Ids at the provider by names in lower case: a name that somebody else has taken over is not believed. */
export type KnownIds = {
  repositories?: Readonly<Record<string, string>>
  authors?: Readonly<Record<string, string>>
}

export const integrationTables = {
  /** An app of this service in an external workspace. */
  installations: table({
    rows: 'tenant',
    key: ['tenant_id', 'id'],
    noun: 'installation',
    lease: { owner: 'token_owner', expires: 'token_until_ms' },
    columns: {
      tenant_id: text(),
      id: text(),
      integration: text<IntegrationId>(),
      external_id: text(),
      external_name: long(text()),
      bot_user_id: nullable(text()),
      scopes: long(json<string[]>()),
      status: text<InstallationStatus>(),
      /** `tokens`: sealed JSON. Null: the app creates its tokens itself. */
      sealed_tokens: nullable(long(sealedJson<{ tokens: Sealed }>())),
      /** The process that requests a new token, and until when it may. */
      token_owner: nullable(text()),
      token_until_ms: number(),
      created_at: text(),
      updated_at: text(),
    },
  }),
  /** Maps an external workspace to its tenant, because the deliveries of all tenants arrive at one address. */
  installation_places: table({
    rows: 'control',
    key: ['integration', 'external_id'],
    columns: {
      integration: text<IntegrationId>(),
      external_id: text(),
      tenant_id: text(),
      installation_id: text(),
    },
  }),
  /**
   * An installation that was started. Its row is used once, by the hash of the state that the provider returns. Or an
   * installation that is being finished, by its own id: until `expires_ms` its place is kept for it.
   */
  install_states: table({
    rows: 'control',
    key: ['id'],
    columns: {
      id: text(),
      tenant_id: text(),
      integration: text<IntegrationId>(),
      /** The person who started it. Null: a key did. */
      user_id: nullable(text()),
      expires_ms: number(),
    },
  }),
  publications: table({
    rows: 'tenant',
    key: ['tenant_id', 'id'],
    noun: 'publication',
    columns: {
      tenant_id: text(),
      id: text(),
      integration: text<IntegrationId>(),
      /** Null for a kind of integration without installations. */
      installation_id: nullable(text()),
      agent_id: text(),
      /** Null: the newest version. */
      agent_version: nullable(number()),
      environment_id: text(),
      /** The vault with the app's token for calls of agents, and when that token is renewed. */
      vault_id: nullable(text()),
      token_due_ms: nullable(number()),
      spec: long(record<PublicationSpec>()),
      /** `signing`: signs the deliveries and answers of this publication only. */
      sealed_secrets: nullable(long(sealedJson<{ signing: Sealed }>())),
      status: text<PublicationStatus>(),
      metadata: long(json<Record<string, string>>()),
      known_ids: nullable(long(json<KnownIds>())),
      created_at: text(),
      updated_at: text(),
    },
  }),
  /** Deliveries for a publication. Ids sort by arrival. */
  integration_deliveries: table({
    rows: 'tenant',
    key: ['tenant_id', 'id'],
    noun: 'delivery',
    columns: {
      tenant_id: text(),
      id: text(),
      publication_id: text(),
      /** The sender's id of the delivery. Each id is processed once. */
      external_id: text(),
      state: text<DeliveryState>(),
      reason: nullable(long(text())),
      scope: nullable(text()),
      author: nullable(text()),
      /** Null once it was posted to a session, and when it was ignored. */
      received: nullable(long(record<AllowedDelivery>())),
      session_id: nullable(text()),
      /** Attempts so far, and when the next one is due. Null: no further attempt. */
      begun: number(),
      due_ms: nullable(number()),
      /** What the provider calls the delivery on its own page. */
      number: nullable(text()),
      /** The event of the session that has the message, and where the answer to it goes. */
      event_id: nullable(text()),
      target: nullable(json<AdapterNotes>()),
      /** What of the context could not be read. */
      missing: nullable(long(json<string[]>())),
      answer_state: nullable(text<AnswerState>()),
      answer_url: nullable(text()),
      answer_reason: nullable(long(text())),
      /** The event that was or was not told. */
      answer_event: nullable(text()),
      created_at: text(),
    },
  }),
  /** An external thread: its session, and the progress of its tellings. */
  integration_threads: table({
    rows: 'tenant',
    key: ['tenant_id', 'id'],
    noun: 'external thread',
    lease: { owner: 'owner', expires: 'expires_at' },
    columns: {
      tenant_id: text(),
      id: text(),
      publication_id: text(),
      scope: text(),
      session_id: nullable(text()),
      target: long(json<AdapterNotes>()),
      /** The target of the message that the turn answers. Null: that of the newest message. */
      turn_target: nullable(json<AdapterNotes>()),
      /** State of the adapter, from one telling to the next. */
      notes: long(json<AdapterNotes>()),
      /** A telling that comes before the next event of the log. */
      first: nullable(long(json<FirstTelling>())),
      /** The number of the last event that was told or needs no telling. */
      told_seq: number(),
      /** Number of tellings of the next event that were told. */
      told_parts: number(),
      /** The telling that was started and may have arrived. */
      begun: nullable(json<StartedTelling>()),
      /** What has woken the agent without a request of a person. Null: nothing yet. */
      wakes: nullable(long(json<WakeCounts>())),
      /** 1: the session is about a pull request of a fork, and may write nothing at the provider. */
      reads_only: nullable(number<1>()),
      /** When the token of the session's repository is renewed. Null: no token. */
      token_due_ms: nullable(number()),
      /** When a job looks at the thread again. Null: nothing is expected. */
      due_ms: nullable(number()),
      owner: nullable(text()),
      expires_at: number(),
    },
  }),
  /**
   * Pull requests that agents have opened. What comes for one of them belongs to the thread whose agent has opened it.
   */
  integration_pull_requests: table({
    rows: 'tenant',
    key: ['tenant_id', 'publication_id', 'scope'],
    columns: {
      tenant_id: text(),
      publication_id: text(),
      /** What names the pull request in deliveries, such as `acme/shop#9`. */
      scope: text(),
      /** The scope of the external thread that it belongs to. */
      thread_scope: text(),
      /** The session that has opened it. */
      session_id: text(),
      /** Its branch. */
      head: long(text()),
      created_at: text(),
    },
  }),
}
