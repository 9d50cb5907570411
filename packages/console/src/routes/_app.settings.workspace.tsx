import { createFileRoute } from '@tanstack/react-router'
import { SettingsPage } from '../components/settings-page.tsx'
import { words } from '../lib/words.ts'

export const Route = createFileRoute('/_app/settings/workspace')({
  component: Workspace,
})

function Workspace() {
  return <SettingsPage title={words.settings.workspace}>{null}</SettingsPage>
}
