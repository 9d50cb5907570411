import { createFileRoute } from '@tanstack/react-router'
import { SettingsPage } from '../components/settings-page.tsx'
import { words } from '../lib/words.ts'

export const Route = createFileRoute('/_app/settings/me')({
  component: Me,
})

function Me() {
  return <SettingsPage title={words.settings.me}>{null}</SettingsPage>
}
