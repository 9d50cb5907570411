/** Notices of a unit: collected while it runs, published after its commit. */
import type { Log } from '@steward/base/log.ts'
import type { Notice, PublishNotice } from '../core/notice.ts'
import type { Connection, Database, Queries } from './database.ts'

/** The queries of a database to which nobody listens, such as that of a command: drops the notices of its units. */
export const withoutNotices = (connection: Connection): Queries =>
  Object.assign(connection, { afterCommit() {} })

/**
 * Publishes the notices of each unit once, in order, when its commit is durable. What an attempt collected before it
 * failed is dropped. A failure to publish is logged and fails no write, because a notice carries no truth.
 */
export function withNotices(
  database: Database,
  { publish, log }: { publish: PublishNotice; log: Pick<Log, 'error'> },
): Database {
  async function published<Written>(
    write: Database['write'],
    unit: (tx: Queries) => Promise<Written>,
  ): Promise<Written> {
    let kept: readonly Notice[] = []
    const written = await write(async (tx) => {
      const collected = new Map<string, Notice>()
      let isOver = false
      const own: Connection = tx.$extendTables<Record<never, never>>()
      const afterCommit = (notice: Notice) => {
        if (isOver) throw new Error('a notice outside of its unit')
        collected.set(keyOf(notice, collected.size), notice)
      }
      try {
        const value = await unit(Object.assign(own, { afterCommit }))
        kept = [...collected.values()]
        return value
      } finally {
        isOver = true
      }
    })
    for (const notice of kept) {
      try {
        publish(notice)
      } catch (error) {
        log.error('a notice was not published', { error, topic: notice.topic })
      }
    }
    return written
  }
  return {
    ...database,
    write: (unit) => published(database.write, unit),
    writeStatement: (statement) => published(database.writeStatement, statement),
  }
}

/** Equal notices of one unit are one. Live words are not compared, as they may be long. */
const keyOf = ({ topic, message, isLive }: Notice, count: number): string =>
  isLive ? String(count) : `${topic} ${JSON.stringify(message)}`
