/** Answers that are kept, and when they are asked for again. */
import { QueryCache, QueryClient } from '@tanstack/react-query'
import { ApiError } from './api/refusal.ts'
import { noteHeard, noteLost } from './stream/connection.ts'

const isLost = (error: Error): boolean =>
  error instanceof ApiError && (error.status === 0 || error.status >= 502)

export const queryClient = new QueryClient({
  queryCache: new QueryCache({
    onError: (error) => {
      if (isLost(error)) noteLost()
    },
    onSuccess: noteHeard,
  }),
  defaultOptions: {
    // What the browser calls offline says nothing of a server on this machine, or behind a tunnel.
    mutations: { networkMode: 'always' },
    queries: {
      networkMode: 'always',
      staleTime: 5_000,
      retry: (count, error) => count < 2 && isLost(error),
      refetchOnWindowFocus: true,
    },
  },
})
