/** Answers that are kept, and when they are asked for again. */
import { QueryCache, QueryClient } from '@tanstack/react-query'
import { ApiError } from './api/client.ts'
import { leaveForSignIn } from './place.ts'
import { noteHeard, noteLost } from './stream/connection.ts'

const isLost = (error: Error): boolean =>
  error instanceof ApiError && (error.status === 0 || error.status >= 502)

export const queryClient = new QueryClient({
  queryCache: new QueryCache({
    onError: (error) => {
      if (isLost(error)) noteLost()
      // The sign-in has ended; where nobody has signed in, the frame leads there itself.
      if (error instanceof ApiError && error.status === 401) void leaveForSignIn()
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
