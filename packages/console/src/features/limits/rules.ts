/** Rules of the workspace: what it may name, how long it keeps what it has, and what must stay. */
import { queryOptions } from '@tanstack/react-query'
import { api, dataOf } from '../../lib/api/client.ts'
import type { Hold, Retention, Rules } from '../../lib/api/types.ts'
import { ruleWords as own } from './rule-words.ts'

const rules = ['rules'] as const

/** Everybody in the workspace sees them. */
export const rulesQuery = queryOptions({
  queryKey: [...rules, 'allowed'],
  queryFn: ({ signal }) => dataOf(api.GET('/v1/ext/rules', { signal })),
})

/** For admins, like the holds. */
export const retentionQuery = queryOptions({
  queryKey: [...rules, 'retention'],
  queryFn: ({ signal }) => dataOf(api.GET('/v1/ext/retention', { signal })),
})

export const holdsQuery = queryOptions({
  queryKey: [...rules, 'holds'],
  queryFn: async ({ signal }) => (await dataOf(api.GET('/v1/ext/holds', { signal }))).data,
})

type AllowedKind = keyof Rules['allowed']
export type AllowedRow = { kind: AllowedKind } & Rules['allowed'][AllowedKind]

export const allowedRows = ({ allowed }: Rules): AllowedRow[] =>
  (['models', 'mcp_servers', 'webhooks', 'images'] as const).map((kind) => ({
    kind,
    ...allowed[kind],
  }))

type KeptKind = Exclude<keyof Retention, 'type'>
export type KeptRow = { kind: KeptKind } & Retention[KeptKind]

export const keptRows = (retention: Retention): KeptRow[] =>
  (['sessions', 'files', 'outputs', 'memory_versions', 'deliveries'] as const).map((kind) => ({
    kind,
    ...retention[kind],
  }))

/** What a hold keeps, in words. */
export function keptBy({ scope }: Hold): string {
  if (scope.type === 'workspace') return own.holds.whole
  return scope.type === 'session' ? scope.session_id : scope.person_id
}
