/** What a request answers, in all its states: it comes, failed, or is there. */
import type { ReactNode } from 'react'
import { requestIdOf } from '../lib/failures.ts'
import { Failure, Skeleton } from './notices.tsx'

type LoadedProps<Data> = {
  query: { data: Data | undefined; error: Error | null; refetch: () => unknown }
  /** How many rows come, about. */
  rows?: number
  children: (data: Data) => ReactNode
}

export function Loaded<Data>({ query, rows = 3, children }: LoadedProps<Data>) {
  const { data, error, refetch } = query
  if (data !== undefined) return children(data)
  if (error === null) return <Skeleton rows={rows} />
  return (
    <Failure
      message={error.message}
      requestId={requestIdOf(error)}
      onRetry={() => void refetch()}
    />
  )
}
