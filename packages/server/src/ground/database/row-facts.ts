/** Facts about tables: which columns are JSON, sealed or long. */
import type { Json } from '../core/json-text.ts'
import type { Sealed } from '../core/seal.ts'
import type { Tables } from './tables.ts'

type DecodedColumn<Column> = Column extends Json<infer Value> ? Value : Column

/** A row of the table with its JSON decoded. */
export type RowOf<Table extends keyof Tables> = {
  [Column in keyof Tables[Table]]: DecodedColumn<Tables[Table][Column]>
}

type JsonColumnName<Table extends keyof Tables> = {
  [Column in keyof Tables[Table]]: NonNullable<Tables[Table][Column]> extends Json<unknown>
    ? Column
    : never
}[keyof Tables[Table]]

type SealedColumnName<Table extends keyof Tables> = {
  [Column in keyof Tables[Table]]: NonNullable<DecodedColumn<Tables[Table][Column]>> extends
    | Sealed
    | Partial<Record<string, Sealed>>
    ? Column
    : never
}[keyof Tables[Table]]

export type TableFacts<Table extends keyof Tables> = {
  /** Names the row in error messages. */
  noun: string
  /** Each column of JSON. A `record` is at most 1 MiB. */
  json: Record<JsonColumnName<Table>, 'record' | 'value'>
  /** Each column of sealed values, which the audit leaves out. */
  sealed: Record<SealedColumnName<Table>, true>
  /** Columns that may be long. Their bytes count towards a page of a list. */
  long: readonly (keyof Tables[Table] & string)[]
  /** True: rows with a `deleted_at` are hidden from reads. */
  isHidden?: 'deleted_at' extends keyof Tables[Table] ? true : never
}

export const tableFacts = {
  agents: { noun: 'agent', json: { config: 'record' }, sealed: {}, long: ['config'] },
  deployments: {
    noun: 'deployment',
    json: {
      spec: 'record',
      sealed_tokens: 'value',
      sealed_trigger_secrets: 'value',
      metadata: 'value',
      schedule: 'value',
      paused_reason: 'value',
    },
    sealed: { sealed_tokens: true, sealed_trigger_secrets: true },
    long: ['name', 'description', 'spec', 'sealed_tokens', 'metadata'],
  },
  deployment_runs: {
    noun: 'deployment run',
    json: { error: 'value' },
    sealed: {},
    long: ['error'],
  },
  dreams: {
    noun: 'dream',
    json: {
      session_ids: 'value',
      model: 'value',
      actor: 'value',
      error: 'value',
      usage: 'value',
    },
    sealed: {},
    long: ['session_ids', 'instructions', 'copied_path', 'error'],
  },
  eval_datasets: {
    noun: 'eval dataset',
    json: { metadata: 'value' },
    sealed: {},
    long: ['name', 'description', 'metadata'],
  },
  eval_runs: {
    noun: 'eval',
    json: { metadata: 'value', spec: 'record', scores: 'value' },
    sealed: {},
    long: ['name', 'metadata', 'spec', 'scores'],
  },
  eval_results: {
    noun: 'eval result',
    json: { step: 'value', scores: 'value', error: 'value', usage: 'value' },
    sealed: {},
    long: ['sample_id', 'scores', 'error', 'answer', 'usage'],
  },
  files: { noun: 'file', json: {}, sealed: {}, long: ['filename', 'mime_type'] },
  environments: { noun: 'environment', json: { record: 'record' }, sealed: {}, long: ['record'] },
  memory_stores: {
    noun: 'memory store',
    json: { metadata: 'value' },
    sealed: {},
    long: ['name', 'description', 'metadata'],
    isHidden: true,
  },
  model_cards: {
    noun: 'model card',
    json: { card: 'record' },
    sealed: { sealed_key: true, sealed_headers: true },
    long: ['card', 'sealed_key', 'sealed_headers'],
  },
  installations: {
    noun: 'installation',
    json: { scopes: 'value', sealed_tokens: 'value' },
    sealed: { sealed_tokens: true },
    long: ['external_name', 'scopes', 'sealed_tokens'],
  },
  publications: {
    noun: 'publication',
    json: { spec: 'record', sealed_secrets: 'value', metadata: 'value' },
    sealed: { sealed_secrets: true },
    long: ['spec', 'sealed_secrets', 'metadata'],
  },
  integration_deliveries: {
    noun: 'delivery',
    json: { received: 'record' },
    sealed: {},
    long: ['received', 'reason'],
  },
  integration_threads: {
    noun: 'external thread',
    json: { target: 'value', notes: 'value', first: 'value', begun: 'value' },
    sealed: {},
    long: ['target', 'notes', 'first'],
  },
  skill_versions: {
    noun: 'skill version',
    json: { files: 'value' },
    sealed: {},
    long: ['description', 'files'],
  },
  skills: { noun: 'skill', json: {}, sealed: {}, long: ['display_title', 'description'] },
  vault_credentials: {
    noun: 'credential',
    json: { metadata: 'value', auth: 'value', sealed: 'value' },
    sealed: { sealed: true },
    long: ['display_name', 'metadata', 'auth', 'sealed', 'binding'],
  },
  vaults: { noun: 'vault', json: { metadata: 'value' }, sealed: {}, long: ['name', 'metadata'] },
  webhook_endpoints: {
    noun: 'webhook endpoint',
    json: { enabled_events: 'value', sealed_secrets: 'value' },
    sealed: { sealed_secrets: true },
    long: ['url', 'description', 'enabled_events', 'sealed_secrets'],
  },
} as const satisfies { [Table in keyof Tables]?: TableFacts<Table> }
