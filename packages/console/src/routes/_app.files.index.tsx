import { createFileRoute, useNavigate } from '@tanstack/react-router'
import { filesQuery } from '../features/files/files.ts'
import { FilesPage } from '../features/files/files-page.tsx'

export const Route = createFileRoute('/_app/files/')({
  // Not awaited: the list is asked for while its page is loaded.
  loader: ({ context }) => void context.queryClient.prefetchInfiniteQuery(filesQuery),
  component: Files,
})

function Files() {
  const navigate = useNavigate()
  return (
    <FilesPage
      onOpen={({ id }) => void navigate({ to: '/files/$fileId', params: { fileId: id } })}
    />
  )
}
