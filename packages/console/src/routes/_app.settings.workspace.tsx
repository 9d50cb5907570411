import { useQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { Loaded } from '../components/loaded.tsx'
import { SettingsPage } from '../components/settings-page.tsx'
import { accountQuery, workspaceOf } from '../features/account/account.ts'
import { WorkspacePage } from '../features/workspace/workspace-page.tsx'
import { workspaceWords } from '../features/workspace/words.ts'

export const Route = createFileRoute('/_app/settings/workspace')({ component: ThisWorkspace })

function ThisWorkspace() {
  const query = useQuery(accountQuery)
  const shown = query.data && workspaceOf(query.data)
  if (shown) return <WorkspacePage key={shown.id} id={shown.id} role={shown.role} />
  return (
    <SettingsPage title={workspaceWords.title}>
      <Loaded query={query}>{() => null}</Loaded>
    </SettingsPage>
  )
}
