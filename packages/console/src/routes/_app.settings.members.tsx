import { createFileRoute } from '@tanstack/react-router'
import { SettingsPage } from '../components/settings-page.tsx'
import { words } from '../lib/words.ts'

export const Route = createFileRoute('/_app/settings/members')({
  component: Members,
})

function Members() {
  return <SettingsPage title={words.settings.members}>{null}</SettingsPage>
}
