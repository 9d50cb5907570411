/** What a new session is made of, and the request that begins it. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { api, dataOf } from '../../lib/api/client.ts'
import { environmentChoices } from '../../lib/api/choices.ts'
import type { SessionCreateBody } from '../../lib/api/types.ts'

export type NewSession = {
  agent: string
  /** Undefined: the newest. */
  version: number | undefined
  environment: string | undefined
  vaults: readonly string[]
  title: string
  message: string
  /** US dollars, as they were typed. */
  budget: string
}

/** The fields whose refusals stand under them. */
export const sessionFields = [
  'agent',
  'environment_id',
  'vault_ids',
  'title',
  'initial_events',
  'budget',
]

const centsOf = (dollars: string): string => {
  const amount = Number(dollars.replace(',', '.')) * 100
  return Number.isFinite(amount) ? String(Math.round(amount * 10_000) / 10_000) : dollars
}

export function bodyOf(session: NewSession): SessionCreateBody {
  const { agent, version, environment, vaults, title, message, budget } = session
  return {
    agent: version === undefined ? agent : { type: 'agent', id: agent, version },
    ...(environment !== undefined && { environment_id: environment }),
    ...(title.trim() !== '' && { title: title.trim() }),
    ...(vaults.length > 0 && { vault_ids: [...vaults] }),
    ...(message.trim() !== '' && {
      initial_events: [{ type: 'user.message', content: [{ type: 'text', text: message.trim() }] }],
    }),
    ...(budget.trim() !== '' && {
      budget: { type: 'limit', max_list_cost: { amount: centsOf(budget.trim()), currency: 'USD' } },
    }),
  }
}

export function useSessionCreate() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (body: SessionCreateBody) => dataOf(api.POST('/v1/sessions', { body })),
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: ['sessions'] })
      void client.invalidateQueries({ queryKey: ['home'] })
    },
  })
}

/** An environment with the settings that it has by itself, where none is there to choose. */
export function useFirstEnvironment(name: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: () => dataOf(api.POST('/v1/environments', { body: { name } })),
    onSuccess: () => client.invalidateQueries(environmentChoices),
  })
}
