import { createFileRoute } from '@tanstack/react-router'
import { Page } from '../components/page.tsx'

export const Route = createFileRoute('/_app/sessions/$sessionId')({ component: SessionPage })

function SessionPage() {
  const { sessionId } = Route.useParams()
  return <Page title={sessionId}>…</Page>
}
