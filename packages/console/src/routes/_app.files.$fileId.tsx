import { createFileRoute, useNavigate } from '@tanstack/react-router'
import { FilePage } from '../features/files/file-page.tsx'
import { fileQuery } from '../features/files/files.ts'

export const Route = createFileRoute('/_app/files/$fileId')({
  // Not awaited: the file is asked for while its page is loaded.
  loader: ({ context, params }) => void context.queryClient.prefetchQuery(fileQuery(params.fileId)),
  component: OneFile,
})

function OneFile() {
  const { fileId } = Route.useParams()
  const navigate = useNavigate()
  return <FilePage key={fileId} id={fileId} onGone={() => void navigate({ to: '/files' })} />
}
