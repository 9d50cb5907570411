/** Publications whose agents work for nobody. */
import type { Reads } from '../../ground/database/database.ts'
import { rows } from '../../ground/database/rows.ts'
import type { PublicationRow } from './store.ts'

/** The reason why deliveries for the publication are ignored, and its agent opens no pull requests. */
export async function whyUnserved(
  read: Reads,
  { tenant_id: tenant, status, installation_id: id }: PublicationRow,
): Promise<string | undefined> {
  if (status === 'paused') return 'the publication is paused'
  if (status === 'live' || id === null) return undefined
  const installation = await rows(read, 'installations').find(tenant, id)
  return installation?.status === 'revoked' ? 'the app is no longer installed' : undefined
}
