import { createFileRoute } from '@tanstack/react-router'
import { KeysPage } from '../features/keys/keys-page.tsx'
import { keysQuery } from '../features/keys/keys.ts'

export const Route = createFileRoute('/_app/settings/keys')({
  // Not awaited: the list is asked for while its page is loaded.
  loader: ({ context }) => void context.queryClient.prefetchInfiniteQuery(keysQuery()),
  component: KeysPage,
})
