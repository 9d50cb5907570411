import type { Database } from '../../ground/database/database.ts'
import { hintSetting, organizationSetting } from './outbox.ts'
import { endpointStore } from './store.ts'

/**
 * Writes the webhook settings of this process to the database, for all writers of the outbox. Switches a hint on again
 * that a redirect had switched off.
 */
export const announceWebhooks = (
  database: Database,
  { organization, isHinting }: { organization: string | undefined; isHinting: boolean },
): Promise<void> =>
  database.write(async (tx) => {
    const store = endpointStore(tx)
    await store.setting(organizationSetting, organization ?? null)
    await store.setting(hintSetting, isHinting ? 'on' : null)
  })
