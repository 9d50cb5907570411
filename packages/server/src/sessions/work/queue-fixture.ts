/** For tests: a work item and everything that can happen to it. */
import assert from 'node:assert/strict'
import type { Database } from '../../ground/database/database.ts'
import type { databases as kinds } from '../../ground/database/fixture.ts'
import { withHeardNotices } from '../../ground/database/fixture.ts'
import { getHeadForUpdate } from '../log/head.ts'
import { idleEntries } from '../log/idle.ts'
import { appendEntries } from '../log/append.ts'
import { tenant } from '../log/fixture.ts'
import { newSession } from '../fixture.ts'
import { PlatformError } from '../../ground/core/errors.ts'
import { checkWritingClaim } from './claim.ts'
import type { WorkItem, Worker } from './item.ts'
import { claimLeaseMs } from './item.ts'
import {
  acknowledgeItem,
  beatItem,
  claimNext,
  enqueueItem,
  settleOverdue,
  stopItem,
} from './queue.ts'
import { workStore } from './store.ts'

export const environment = 'env_test'
export const idleMs = 60_000
export const anyWorker: Worker = { key: 'key', id: undefined }
export const [firstWorker, secondWorker]: [Worker, Worker] = [
  { key: 'key', id: 'first' },
  { key: 'key', id: 'second' },
]

/** A session with a work item in a new database, and a clock that stands still. */
export async function workRef(open: (typeof kinds)['sqlite']) {
  const opened = await open()
  const { database } = opened
  let now = 1_000_000
  const session = await newSession(database)
  const put = () =>
    database.write((tx) => enqueueItem(tx, { tenant, environment, session }, { now }))
  const claim = (reclaimMs = 5_000, by = anyWorker) =>
    claimNext(database, tenant, environment, { now, reclaimMs, by })
  const at = ({ id }: WorkItem) => ({ tenant, environment, id })
  return {
    ...{ database, session, put, claim },
    pass: (ms: number) => (now += ms),
    now: () => now,
    ack: (item: WorkItem, by = anyWorker) => acknowledgeItem(database, at(item), by, now),
    /** Records a poll of this worker, which other polls can see. */
    asks: ({ id = '' }: Worker) =>
      database.write((tx) =>
        workStore(tx).seen(tenant, [{ environment_id: environment, worker_id: id, seen_ms: now }]),
      ),
    /** Ends the session's turn. */
    rests: () =>
      database.write(async (tx) => {
        const entries = idleEntries(
          await getHeadForUpdate(tx, tenant, session),
          { type: 'end_turn' },
          now,
        )
        await appendEntries(tx, tenant, session, entries, { now })
      }),
    stats: () => workStore(database.read).stats(tenant, environment, now),
    more: async () => {
      const other = await newSession(database)
      await database.write((tx) =>
        enqueueItem(tx, { tenant, environment, session: other }, { now }),
      )
    },
    beat: (item: WorkItem, expected?: string, ttlMs = claimLeaseMs) =>
      beatItem(
        database,
        at(item),
        { by: { generation: item.generation }, expected, ttlMs },
        { now, idleMs },
      ),
    stop: (item: WorkItem, force = true) =>
      database.write((tx) =>
        stopItem(tx, at(item), { by: { generation: item.generation }, force }, now),
      ),
    /** `told`: sessions with new events. `queued`: environments whose workers were notified. */
    async settle() {
      const { database: listened, heard } = withHeardNotices(database)
      await listened.write((tx) => settleOverdue(tx, { now, unclaimedMs: 30_000, limit: 10 }))
      return {
        told: heard.flatMap(({ topic, message }) =>
          message['kind'] === 'new_events' ? topic.replace('session:', '') : [],
        ),
        queued: heard.flatMap(({ topic, message }) =>
          topic === 'queue' ? message['environment'] : [],
        ),
      }
    },
    /** Writes for the session under its claim. */
    writes: ({ id, generation }: WorkItem) =>
      database.write((tx) =>
        checkWritingClaim(
          tx,
          {
            ...{ kind: 'claim', tenant, environmentId: environment, sessionId: session },
            ...{ workId: id, generation, claimState: 'current' },
          },
          now,
        ),
      ),
    state: async (item: WorkItem) =>
      (await workStore(database.read).row(tenant, environment, item.id)).state,
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  }
}

export const isRefusedAs = (kindOf: string) => (error: unknown) =>
  error instanceof PlatformError && error.kind === kindOf
export const claimedItem = async (item: Promise<WorkItem | undefined>): Promise<WorkItem> => {
  const found = await item
  assert.ok(found)
  return found
}
/** The errors in the session's log, one a line. */
export const readErrors = async (database: Database): Promise<string> => {
  const query = database.read.selectFrom('events').select('data')
  const rows = await query.where('type', '=', 'session.error').execute()
  assert.ok(rows.length <= 1, 'told once')
  return rows.map(({ data }) => data).join('\n')
}
export const appendWorkerCall = (database: Database, session: string, now: number) =>
  database.write((tx) =>
    appendEntries(
      tx,
      tenant,
      session,
      [
        {
          event: {
            ...{ id: 'sevt_call', type: 'agent.tool_use', name: 'bash', input: {} },
            ...{ evaluated_permission: 'allow', executed_by: 'worker' },
          },
        },
      ],
      { now },
    ),
  )
