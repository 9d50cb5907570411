/** Answers that are kept, and when they are asked for again. */
import { QueryCache, QueryClient } from '@tanstack/react-query'
import { ApiError } from './api/client.ts'
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
    queries: {
      staleTime: 5_000,
      retry: (count, error) => count < 2 && isLost(error),
      refetchOnWindowFocus: true,
    },
  },
})
