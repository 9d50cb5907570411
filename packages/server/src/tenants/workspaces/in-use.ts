import type { Database, OpenDatabases } from '../../ground/database/database.ts'
import { workspaceStore } from './store.ts'

/** False for an archived or deleted workspace, whose work has ended. */
export async function isInUse({ control }: OpenDatabases, workspace: string): Promise<boolean> {
  const [found] = await workspaceStore(control.read).some([workspace])
  return found?.archived_at === null
}

/** The database of a workspace that a request from outside names. Undefined unless the workspace is in use. */
export async function openIfInUse(
  databases: OpenDatabases,
  workspace: string,
): Promise<Database | undefined> {
  return (await isInUse(databases, workspace)) ? databases.open(workspace) : undefined
}
