/**
 * For tests: a server that kills itself, as `kill -9` does, at a named point of a turn. Run with a point and the
 * settings in the environment; prints its port.
 */
import { readConfig } from '../config.ts'
import { jsonLog } from '../core/log.ts'
import type { Database, Queries } from '../database/database.ts'
import { start } from '../start.ts'

/** Seen inside of the transaction: just before its commit, or just after. */
type Point = { at: 'before' | 'after'; seen: (tx: Queries) => Promise<boolean> }

const has = (table: 'events' | 'inbox', type: string) => async (tx: Queries) => {
  const row = await tx
    .selectFrom(table)
    .select('id')
    .where('type', '=', type)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

export const points = {
  admitted: { at: 'after', seen: has('inbox', 'user.message') },
  promoted: { at: 'after', seen: has('events', 'user.message') },
  'tool started': { at: 'after', seen: has('events', 'agent.tool_use') },
  'tool ended': { at: 'before', seen: has('events', 'agent.tool_result') },
  'before idle': { at: 'before', seen: has('events', 'session.status_idle') },
} as const satisfies Record<string, Point>
export type PointName = keyof typeof points

const die = () => process.kill(process.pid, 'SIGKILL')

function dying(database: Database, point: Point): Database {
  return {
    ...database,
    async write(unit) {
      let seen = false
      const value = await database.write(async (tx) => {
        const result = await unit(tx)
        seen = await point.seen(tx)
        if (seen && point.at === 'before') die()
        return result
      })
      if (seen) die()
      return value
    },
  }
}

if (import.meta.main) {
  const read = readConfig(process.env)
  if (!read.ok) throw new Error(read.problems.join('\n'))
  const point = points[process.argv[2] as PointName] as Point | undefined
  const log = jsonLog((line) => process.stderr.write(line), 'warn')
  const running = await start(
    read.config,
    log,
    point ? { database: (built) => dying(built, point) } : {},
  )
  process.stdout.write(`${running.port}\n`)
  process.on('SIGTERM', () => void running.close().then(() => process.exit(0)))
}
