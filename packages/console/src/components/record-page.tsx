/** The page of one thing, while it comes and where it failed. */
import type { ReactNode } from 'react'
import { requestIdOf } from '../lib/failures.ts'
import { Failure, Skeleton } from './notices.tsx'
import { Page } from './page.tsx'

type RecordQuery<Row> = { data: Row | undefined; error: Error | null; refetch: () => unknown }

/** What stands in place of something that does not come. */
export const Missing = ({ error, refetch }: Pick<RecordQuery<unknown>, 'error' | 'refetch'>) =>
  error ? (
    <Failure
      message={error.message}
      requestId={requestIdOf(error)}
      onRetry={() => void refetch()}
    />
  ) : (
    <Skeleton />
  )

export function RecordPage<Row>({
  title,
  crumbs,
  query: { data, error, refetch },
  children,
}: {
  /** Of the page until the thing is there. */
  title: string
  crumbs: ReactNode
  query: RecordQuery<Row>
  children: (row: Row) => ReactNode
}) {
  if (data !== undefined) return children(data)
  return (
    <Page title={title} crumbs={crumbs}>
      <Missing error={error} refetch={refetch} />
    </Page>
  )
}
