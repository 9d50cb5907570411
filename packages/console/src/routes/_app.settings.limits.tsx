import { createFileRoute } from '@tanstack/react-router'
import { SettingsPage } from '../components/settings-page.tsx'
import { words } from '../lib/words.ts'

export const Route = createFileRoute('/_app/settings/limits')({
  component: Limits,
})

function Limits() {
  return <SettingsPage title={words.settings.limits}>{null}</SettingsPage>
}
