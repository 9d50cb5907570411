import pg from 'pg'
import { newPostgresUrl } from './fixture.ts'
import { postgresDatabase } from './postgres.ts'

/** Opens a database on Postgres, where two units run at the same time. */
export async function openForRaces() {
  const url = await newPostgresUrl()
  const database = await postgresDatabase(url)
  const watch = new pg.Client({ connectionString: url })
  await watch.connect()
  const isBlocked = async () => {
    const { rows } = await watch.query(`select 1 from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`)
    return rows.length > 0
  }
  return {
    database,
    /**
     * Holds the first unit open until the second waits for it. `last`: what the first unit does then. Returns the
     * outcomes of both.
     */
    race: async <A, B>(
      first: Parameters<typeof database.write<A>>[0],
      second: Parameters<typeof database.write<B>>[0],
      last: Parameters<typeof database.write<void>>[0] = async () => {},
    ) => {
      const begun = Promise.withResolvers<void>()
      const end = Promise.withResolvers<void>()
      const one = database.write(async (tx) => {
        const value = await first(tx)
        begun.resolve()
        await end.promise
        await last(tx)
        return value
      })
      await begun.promise
      const two = database.write(second)
      while (!(await isBlocked())) await new Promise((resolve) => setImmediate(resolve))
      end.resolve()
      return Promise.allSettled([one, two])
    },
    async [Symbol.asyncDispose]() {
      await watch.end()
      await database.close()
    },
  }
}
