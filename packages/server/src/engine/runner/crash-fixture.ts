/**
 * For tests: a server with a fault at a named point of a turn. At that point the server kills itself like `kill -9`, or
 * its database refuses to write. Run it with the settings in the environment and with a fault as JSON, or without one;
 * it prints its port. A fault that it gets as a message is active once it has answered.
 */
import { readConfig } from '../../ground/config/config.ts'
import { jsonLog } from '@steward/base/log.ts'
import { createKeyQueue } from '../../ground/core/fairness/key-queue.ts'
import type { Database, Queries, Reads } from '../../ground/database/database.ts'
import { startService } from '../../start/start.ts'

/**
 * A point just before or just after the commit that writes an event of the type. `queueing`: when the fault waits for a
 * queue, before the commit, which then sees the queue, or after.
 */
type CrashPoint = { at: 'before' | 'after'; queueing: 'before' | 'after'; type: string }

const before = (type: string): CrashPoint => ({ at: 'before', queueing: 'before', type })
const after = (type: string): CrashPoint => ({ at: 'after', queueing: 'after', type })

export const crashPoints = {
  /** An event of a client that waits for a runner. */
  admitted: after('inbox'),
  promoting: before('user.message'),
  promoted: after('user.message'),
  'tool started': after('agent.tool_use'),
  'tool ended': before('agent.tool_result'),
  answered: after('agent.message'),
  'before idle': before('session.status_idle'),
  'after idle': { ...after('session.status_idle'), queueing: 'before' },
  'taking up': before('session.warning'),
  'taken up': after('session.warning'),
} as const satisfies Record<string, CrashPoint>
export type PointName = keyof typeof crashPoints

export type Fault = {
  point: PointName
  /** The number of the event of this type, counted from when the fault is active. */
  nth?: number
  /** The fault waits until this number of events wait in the queues. */
  queued?: number
  /** Number of refused writes of the session, in place of a death. */
  refusals?: number
}

const die = () => process.kill(process.pid, 'SIGKILL')

class QueueNotFull extends Error {}

/** Number of events of the type that were ever stored. */
async function count(db: Reads, type: string): Promise<number> {
  if (type === 'inbox') {
    const heads = await db.selectFrom('session_heads').select('next_position').execute()
    return heads.reduce((sum, { next_position }) => sum + next_position, 0)
  }
  return (await db.selectFrom('events').select('id').where('type', '=', type).execute()).length
}

const hasQueued = async (db: Reads, least: number): Promise<boolean> =>
  (await db.selectFrom('inbox').select('id').execute()).length >= least

const pause = () => new Promise((resolve) => setTimeout(resolve, 5))

const countOf = (database: Database, { point }: Fault): Promise<number> =>
  count(database.read, crashPoints[point].type)

/** `atStart`: number of events of the type when the fault becomes active. */
function faulty(database: Database, fault: Fault, atStart: Promise<number>): Database {
  const { at, queueing, type }: CrashPoint = crashPoints[fault.point]
  const { nth = 1, queued = 0 } = fault
  const alone = createKeyQueue()
  let refusals = fault.refusals ?? 0
  /** The session with refused writes. */
  let broken: string | undefined

  const headOf = async (tx: Queries): Promise<string> => {
    const heads = tx.selectFrom('session_heads').selectAll()
    return JSON.stringify(await heads.where('session_id', '=', broken ?? '').execute())
  }

  function refuse(): void {
    if (refusals-- > 0) throw new Error('the fixture refuses this write')
  }

  async function strike(tx: Queries): Promise<void> {
    if (fault.refusals === undefined) die()
    const events = tx.selectFrom('events').select('session_id').where('type', '=', type)
    broken = (await events.orderBy('created_at', 'desc').executeTakeFirstOrThrow()).session_id
    refuse()
  }

  async function attempt<T>(unit: (tx: Queries) => Promise<T>, last: number): Promise<T> {
    let isReached = false
    const counting = async (tx: Queries) => {
      const [counted, head, isQueued] = [
        await count(tx, type),
        await headOf(tx),
        await hasQueued(tx, queued),
      ]
      const result = await unit(tx)
      if (broken !== undefined && head !== (await headOf(tx))) refuse()
      isReached = counted < last && (await count(tx, type)) >= last
      if (isReached && queueing === 'before' && !isQueued) throw new QueueNotFull()
      if (isReached && at === 'before') await strike(tx)
      return result
    }
    // One unit after the other, so that a unit does not count events of a concurrent commit.
    const value = await alone('write', () => database.write(counting))
    if (!isReached || at === 'before') return value
    while (queueing === 'after' && !(await hasQueued(database.read, queued))) await pause()
    die()
    return value
  }

  async function write<T>(unit: (tx: Queries) => Promise<T>): Promise<T> {
    const last = (await atStart) + nth
    for (;;) {
      try {
        return await attempt(unit, last)
      } catch (error) {
        // A unit may run again, and other units fill the queue in between.
        if (!(error instanceof QueueNotFull)) throw error
        await pause()
      }
    }
  }

  // A statement alone is done or not done, as a transaction is.
  return { ...database, write, writeStatement: write }
}

/** A database without a fault until `setFault` is called. */
function exposed(database: Database) {
  let current = database
  const setFault = (fault: Fault): Promise<number> => {
    const atStart = countOf(database, fault)
    current = faulty(database, fault, atStart)
    return atStart
  }
  return {
    setFault,
    database: {
      ...database,
      write: (unit) => current.write(unit),
      writeStatement: (statement) => current.writeStatement(statement),
    } satisfies Database,
  }
}

if (import.meta.main) {
  const read = readConfig(process.env)
  if (!read.ok) throw new Error(read.problems.join('\n'))
  const fault = process.argv[2] === undefined ? undefined : (JSON.parse(process.argv[2]) as Fault)
  const log = jsonLog((line) => process.stderr.write(line), 'warn')
  const running = await startService(read.config, log, {
    database(built) {
      const { database, setFault } = exposed(built)
      if (fault) void setFault(fault)
      process.on('message', (next: Fault) => void setFault(next).then(() => process.send?.('laid')))
      return database
    },
  })
  process.stdout.write(`${running.port}\n`)
  process.on('SIGTERM', () => void running.close().then(() => process.exit(0)))
}
