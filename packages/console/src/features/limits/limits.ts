/** What the workspace may spend, hold and ask, and how much of that it does. */
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import { api, dataOf } from '../../lib/api/client.ts'
import type { ApiCall } from '../../lib/request/api-call.ts'

const limits = ['limits'] as const

export const quotasQuery = queryOptions({
  queryKey: [...limits, 'quotas'],
  queryFn: async ({ signal }) => (await dataOf(api.GET('/v1/ext/quotas', { signal }))).data,
})

/** Those that hold, with what was spent. Everybody in the workspace sees them. */
export const spendingQuery = queryOptions({
  queryKey: [...limits, 'spending'],
  queryFn: async ({ signal }) =>
    (await dataOf(api.GET('/v1/ext/overview', { signal }))).spend_limits,
})

/** All that are set, for admins: those of the workspace can be taken back. */
export const spendLimitsQuery = queryOptions({
  queryKey: [...limits, 'spend limits'],
  queryFn: async ({ signal }) =>
    (await dataOf(api.GET('/v1/organizations/spend_limits', { signal }))).data,
})

/** For admins. */
export const ratesQuery = (workspace: string) =>
  queryOptions({
    queryKey: [...limits, 'rates', workspace],
    queryFn: async ({ signal }) =>
      (
        await dataOf(
          api.GET('/v1/organizations/workspaces/{id}/rate_limits', {
            params: { path: { id: workspace }, query: { include_inherited: 'true' } },
            signal,
          }),
        )
      ).data,
  })

/** A limit that somebody is about to set. */
export type LimitEdit = {
  name: string
  /** What it does, and what happens beyond it. */
  text: string
  label: string
  unit: string
  /** The most that the operator allows, in words. */
  allowed: string
  /** What stands in the field at first. */
  now: string
  /** Whether the workspace has set one, which can be taken back. */
  isOwn: boolean
  /** The value that was typed, as the service takes it; undefined where it is none. */
  read: (typed: string) => number | undefined
  wrong: string
  call: (value: number) => ApiCall
  /** Null takes it back. */
  save: (value: number | null) => Promise<unknown>
}

export function useLimitSave() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ edit, value }: { edit: LimitEdit; value: number | null }) => edit.save(value),
    onSuccess: () => client.invalidateQueries({ queryKey: limits }),
  })
}
