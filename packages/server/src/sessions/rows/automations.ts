/** The automations that the agent of a session has made: deployments, which go with the session. */
import { sql } from 'kysely'
import type { SessionRef } from '../../ground/core/refs.ts'
import type { Queries } from '../../ground/database/database.ts'
import { rows } from '../../ground/database/rows.ts'

/** Removes those that still post to the session. Their runs stay. */
export async function removeAutomations(
  tx: Queries,
  { tenant, session }: SessionRef,
): Promise<void> {
  // Quotes in texts are escaped, so that no text matches as a key.
  const isNamed = sql<boolean>`spec like ${`%"session_id":${JSON.stringify(session)}%`}`
  const found = await rows(tx, 'deployments').all(tenant, (query) =>
    query
      // An index finds the deployments of an agent, and nobody but the agent of the session makes them.
      .where('agent_id', 'in', (eb) =>
        eb
          .selectFrom('sessions')
          .select('sessions.agent_id')
          .where('sessions.tenant_id', '=', tenant)
          .where('sessions.id', '=', session),
      )
      .where(isNamed),
  )
  const own = found.filter(
    ({ spec }) => spec.made_by?.session === session && spec.session_id === session,
  )
  if (own.length === 0) return
  await tx
    .deleteFrom('deployments')
    .where('tenant_id', '=', tenant)
    .where(
      'id',
      'in',
      own.map(({ id }) => id),
    )
    .execute()
}
