/** A model as the service knows it: for the page of its card and that of a session which uses it. */
import { queryOptions } from '@tanstack/react-query'
import { api, dataOf } from './client.ts'

export const modelsKey = ['models'] as const

export const modelQuery = (id: string) =>
  queryOptions({
    queryKey: [...modelsKey, 'one', id],
    queryFn: ({ signal }) =>
      dataOf(api.GET('/v1/models/{id}', { params: { path: { id } }, signal })),
  })
