import { useQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { accountQuery } from '../features/account/account.ts'
import { MembersPage } from '../features/members/members-page.tsx'
import { membersQuery } from '../features/members/members.ts'

export const Route = createFileRoute('/_app/settings/members')({
  // Not awaited: the list is asked for while its page is loaded.
  loader: ({ context }) => void context.queryClient.prefetchQuery(membersQuery),
  component: Members,
})

function Members() {
  const { data } = useQuery(accountQuery)
  return <MembersPage me={data?.user?.id} />
}
