import { useQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { accountQuery, workspaceOf } from '../features/account/account.ts'
import { LimitsPage } from '../features/limits/limits-page.tsx'
import { quotasQuery } from '../features/limits/limits.ts'

export const Route = createFileRoute('/_app/settings/limits')({
  // Not awaited: the quotas are asked for while their page is loaded.
  loader: ({ context }) => void context.queryClient.prefetchQuery(quotasQuery),
  component: Limits,
})

function Limits() {
  const { data } = useQuery(accountQuery)
  return <LimitsPage workspace={data && workspaceOf(data)?.id} />
}
