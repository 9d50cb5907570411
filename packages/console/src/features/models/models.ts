/** The models that the workspace can run, and the cards that say how they are reached. */
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import { cardChoices, modelChoices } from '../../lib/api/choices.ts'
import { api, dataOf } from '../../lib/api/client.ts'
import { ApiError } from '../../lib/api/refusal.ts'
import type {
  Model,
  ModelCard,
  ModelCardCreateBody,
  ModelCardUpdateBody,
} from '../../lib/api/types.ts'
import { modelsKey as models } from '../../lib/api/models.ts'
import { pagesQuery } from '../../lib/list-state.ts'

export const modelsQuery = pagesQuery<Model>([...models, 'list'], (page, signal) =>
  api.GET('/v1/models', { params: { query: page }, signal }),
)

export const cardQuery = (id: string) =>
  queryOptions({
    queryKey: [...models, 'card', id],
    queryFn: ({ signal }) =>
      dataOf(api.GET('/v1/ext/model_cards/{id}', { params: { path: { id } }, signal })),
  })

/** The models of a provider that the service knows; none for another provider. */
export const catalogQuery = (provider: string) =>
  queryOptions({
    queryKey: [...models, 'catalog', provider],
    queryFn: async ({ signal }) => {
      try {
        const catalog = api.POST('/v1/ext/models/list', { body: { provider }, signal })
        return (await dataOf(catalog)).data
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return []
        throw error
      }
    },
    enabled: provider !== '',
    staleTime: Infinity,
  })

/** Asks again for all that shows models. */
function useChanged() {
  const client = useQueryClient()
  return (card?: ModelCard) => {
    if (card) client.setQueryData(cardQuery(card.id).queryKey, card)
    void client.invalidateQueries({ queryKey: [...models, 'list'] })
    void client.invalidateQueries({ queryKey: [...models, 'one'] })
    void client.invalidateQueries(modelChoices)
    void client.invalidateQueries(cardChoices)
  }
}

export function useCardCreate() {
  const changed = useChanged()
  return useMutation({
    mutationFn: (body: ModelCardCreateBody) => dataOf(api.POST('/v1/ext/model_cards', { body })),
    // Not kept beyond the request: the variables have the key.
    gcTime: 0,
    onSuccess: changed,
  })
}

export function useCardSave() {
  const changed = useChanged()
  return useMutation({
    mutationFn: ({ id, body }: { id: string; body: ModelCardUpdateBody }) =>
      dataOf(api.POST('/v1/ext/model_cards/{id}', { params: { path: { id } }, body })),
    gcTime: 0,
    onSuccess: changed,
  })
}

export function useCardDelete() {
  const changed = useChanged()
  return useMutation({
    mutationFn: (id: string) =>
      dataOf(api.DELETE('/v1/ext/model_cards/{id}', { params: { path: { id } } })),
    onSuccess: () => changed(),
  })
}

export const useCardProbe = () =>
  useMutation({
    mutationFn: (id: string) =>
      dataOf(api.POST('/v1/ext/model_cards/{id}/probe', { params: { path: { id } } })),
  })
