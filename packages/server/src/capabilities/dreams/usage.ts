import type { DreamUsage } from '@steward/protocol/dreams.ts'
import type { Reads } from '../../ground/database/database.ts'

/** The usage of the session; undefined once the session is deleted. */
export const usageOfSession = (
  read: Reads,
  tenant: string,
  session: string,
): Promise<DreamUsage | undefined> =>
  read
    .selectFrom('session_heads')
    .select([
      'input_tokens',
      'output_tokens',
      'cache_creation_input_tokens',
      'cache_read_input_tokens',
    ])
    .where('tenant_id', '=', tenant)
    .where('session_id', '=', session)
    .executeTakeFirst()
