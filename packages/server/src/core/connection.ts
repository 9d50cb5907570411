import pg from 'pg'

/** One Postgres connection that is made again whenever it is lost; what stood in it is then gone. */
export interface Connection {
  /** Rejects while the connection is away. */
  query(sql: string, values?: unknown[]): Promise<unknown>
  close(): Promise<void>
}

const againMs = 500

/** `prepare` runs on every new connection before it is used. Rejects when the first one cannot be made. */
export async function keptConnection(
  url: string,
  prepare: (client: pg.Client) => Promise<void>,
): Promise<Connection> {
  let closed = false
  let client = await connect()

  async function connect(): Promise<pg.Client> {
    const next = new pg.Client({ connectionString: url })
    // Told by `end` and by rejected queries too.
    next.on('error', () => {})
    try {
      await next.connect()
      await prepare(next)
    } catch (error) {
      await next.end()
      throw error
    }
    // Once a connection, where `error` may come several times.
    next.once('end', () => void connectAgain())
    return next
  }

  async function connectAgain(): Promise<void> {
    while (!closed) {
      try {
        client = await connect()
        if (closed) await client.end()
        return
      } catch {
        // The server is away: whoever queries meanwhile is told.
        await new Promise((resolve) => setTimeout(resolve, againMs).unref())
      }
    }
  }

  return {
    query: (sql, values) => client.query(sql, values),
    async close() {
      closed = true
      await client.end()
    },
  }
}
