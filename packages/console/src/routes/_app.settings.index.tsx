import { createFileRoute, redirect } from '@tanstack/react-router'
import { openSettingsPages } from '../lib/settings-pages.ts'

export const Route = createFileRoute('/_app/settings/')({
  beforeLoad: () => {
    const [first = '/settings/workspace'] = openSettingsPages()
    throw redirect({ to: first, replace: true })
  },
})
