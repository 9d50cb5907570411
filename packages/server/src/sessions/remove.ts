/**
 * Removes everything of a session besides its log. Runs at the deletion, and again when the session's last rows are
 * removed.
 */
import type { Queries } from '../ground/database/database.ts'
import { checkpointStore } from '../resources/checkpoints/store.ts'
import { removeFiles } from '../resources/files/remove.ts'
import { fileStore } from '../resources/files/store.ts'
import { threadStore } from './log/threads/store.ts'
import { removeAutomations } from './rows/automations.ts'
import { outcomeStore } from './rows/outcomes.ts'
import { outputStore } from './rows/outputs.ts'
import { resourceStore } from './rows/resources.ts'
import { waitStore } from './rows/waits.ts'
import { wakeupStore } from './rows/wakeups.ts'
import { stdioStore } from './stdio-servers/store.ts'

export async function removeDependents(
  tx: Queries,
  { tenant, session, now }: { tenant: string; session: string; now: number },
): Promise<void> {
  await resourceStore(tx).remove(tenant, session)
  await outcomeStore(tx).remove(tenant, session)
  await outputStore(tx).remove(tenant, session)
  await threadStore(tx).remove(tenant, session)
  await wakeupStore(tx).remove(tenant, session)
  await removeAutomations(tx, { tenant, session })
  await waitStore(tx).remove(tenant, session)
  await removeFiles(tx, tenant, await fileStore(tx).allOfSession(tenant, session), now)
  await checkpointStore(tx).remove(tenant, session, now)
  await stdioStore(tx).remove(tenant, session)
}
