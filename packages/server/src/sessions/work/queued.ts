import type { Queries } from '../../ground/database/database.ts'
import { enqueue } from './queue.ts'
import type { SessionRow } from '../rows/sessions.ts'

/** Puts a session in for the workers of its environment, where it has such; which one has something to claim by that. */
export async function queued(
  tx: Queries,
  { tenant_id: tenant, id: session, environment_id: environment, self_hosted }: SessionRow,
  now: number,
): Promise<string | undefined> {
  if (self_hosted === 0) return undefined
  return (await enqueue(tx, { tenant, environment, session }, { now })) ? environment : undefined
}
