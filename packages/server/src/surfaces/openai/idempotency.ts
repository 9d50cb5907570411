/** Runs a request with an `Idempotency-Key` once. A repeated request gets the same answer as the first. */
import { createHash } from 'node:crypto'
import type { Clock } from '@steward/base/time.ts'
import { conflict, invalid } from '../../ground/core/errors.ts'
import type { Database, Queries } from '../../ground/database/database.ts'

/** The time for which a key is stored. */
const keptMs = 24 * 60 * 60 * 1000
const longestKey = 255

type StoredAnswer = { made: string | null }

/** Thrown inside the unit of a repeated request, so that the unit is rolled back. */
class RepeatedRequestError extends Error {
  readonly answer: StoredAnswer
  constructor(answer: StoredAnswer) {
    super('done before')
    this.answer = answer
  }
}

type KeyedRequest = { scope: string; key: string | undefined; body: unknown }
/** Stores the key and the id of the created object, in the unit of the request. */
type RecordKey = (tx: Queries, now: number, made: string | null) => Promise<void>

/**
 * Runs `request`. Without a key, `request` gets undefined; otherwise it calls the given function in its unit. A
 * repeated request writes nothing. Returns the id of the object that the first request created.
 */
export async function onceByKey(
  db: Database,
  tenant: string,
  { scope, key, body }: KeyedRequest,
  clock: Clock,
  request: (take: RecordKey | undefined) => Promise<string | null>,
): Promise<string | null> {
  if (key === undefined) return request(undefined)
  if (key === '' || key.length > longestKey)
    throw invalid(`Idempotency-Key: must be 1 to ${longestKey} characters long`)
  const ref = { tenant_id: tenant, scope, key }
  const body_hash = createHash('sha256').update(JSON.stringify(body)).digest('hex')
  const kept = await findAnswer(db.read, ref, { body_hash, now: clock.now() })
  if (kept) return kept.made
  try {
    return await request((tx, now, made) => take(tx, ref, { body_hash, now }, made))
  } catch (error) {
    if (!(error instanceof RepeatedRequestError)) throw error
    return error.answer.made
  }
}

type KeyRef = { tenant_id: string; scope: string; key: string }
type KeyUse = { body_hash: string; now: number }

async function findAnswer(
  read: Database['read'] | Queries,
  ref: KeyRef,
  { body_hash, now }: KeyUse,
): Promise<StoredAnswer | undefined> {
  const kept = await read
    .selectFrom('idempotency_keys')
    .select(['body_hash', 'made_id as made'])
    .where((eb) => eb.and(ref))
    .where('created_ms', '>', now - keptMs)
    .executeTakeFirst()
  if (kept && kept.body_hash !== body_hash)
    throw conflict('Idempotency-Key: was sent before with another body')
  return kept
}

async function take(tx: Queries, ref: KeyRef, use: KeyUse, made_id: string | null): Promise<void> {
  const { body_hash, now } = use
  await tx
    .deleteFrom('idempotency_keys')
    .where('tenant_id', '=', ref.tenant_id)
    .where('created_ms', '<=', now - keptMs)
    .execute()
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('idempotency_keys')
    .values({ ...ref, body_hash, created_ms: now, made_id })
    .onConflict((kept) => kept.columns(['tenant_id', 'scope', 'key']).doNothing())
    .executeTakeFirstOrThrow()
  if (numInsertedOrUpdatedRows === 1n) return
  throw new RepeatedRequestError((await findAnswer(tx, ref, use)) ?? { made: null })
}
