import type { Database } from '../../ground/database/database.ts'
import { hintSetting, organizationSetting } from './outbox.ts'
import { endpointStore } from './store.ts'

/**
 * Leaves in the database what its settings say of webhooks, so that whoever writes to the outbox knows. A hint that a
 * redirect had switched off is on again.
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
