/** The page of one thing, in all states of its request. */
import type { ReactNode } from 'react'
import { requestIdOf } from '../lib/failures.ts'
import { Failure, Skeleton } from './notices.tsx'
import { Page } from './page.tsx'

type LoadedPageProps<Data> = {
  /** Until the thing is there. */
  title: string
  crumbs?: ReactNode
  query: { data: Data | undefined; error: Error | null; refetch: () => unknown }
  children: (data: Data) => ReactNode
}

export function LoadedPage<Data>({ title, crumbs, query, children }: LoadedPageProps<Data>) {
  const { data, error, refetch } = query
  if (data !== undefined) return children(data)
  return (
    <Page title={title} crumbs={crumbs}>
      {error ? (
        <Failure
          message={error.message}
          requestId={requestIdOf(error)}
          onRetry={() => void refetch()}
        />
      ) : (
        <Skeleton />
      )}
    </Page>
  )
}
