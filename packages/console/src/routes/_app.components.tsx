import { createFileRoute } from '@tanstack/react-router'
import { Page } from '../components/page.tsx'
import { words } from '../lib/words.ts'

export const Route = createFileRoute('/_app/components')({ component: ComponentsPage })

function ComponentsPage() {
  return <Page title={words.pages.components}>…</Page>
}
