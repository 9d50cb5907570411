import type { Databases } from '../../ground/database/database.ts'
import { workspaceStore } from '../../tenants/workspaces/store.ts'

/** False for a workspace that is archived or deleted: nothing of it goes on. */
export async function isInUse(
  { control }: Pick<Databases, 'control'>,
  workspace: string,
): Promise<boolean> {
  const [found] = await workspaceStore(control.read).some([workspace])
  return found?.archived_at === null
}
