import pg from 'pg'
import type { PostgresLimits } from './postgres-client.ts'
import { postgresConnector, surviveLoss } from './postgres-client.ts'

/** One Postgres connection that reconnects when it is lost. Its locks and subscriptions are lost with the old one. */
export interface PostgresConnection {
  /** Rejects while the connection is away. */
  query(sql: string, values?: unknown[]): Promise<unknown>
  /** True unless the loss of the connection is known. */
  isOpen(): boolean
  close(): Promise<void>
}

const againMs = 500
/** Lets the server end a connection whose packets vanish, and free its locks, within half a minute. */
const noticeSilence =
  'set tcp_keepalives_idle = 10; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 3'

/** `prepare` runs on every new connection before its first use. Rejects when the first connection fails. */
export async function keepConnection(
  url: string,
  limits: PostgresLimits,
  prepare: (client: pg.Client) => Promise<void>,
): Promise<PostgresConnection> {
  const connecting = postgresConnector(url, limits)
  const sign = { text: 'select 1', query_timeout: limits.heartbeatMs }
  let closed = false
  let open = false
  let client = await connect()

  async function connect(): Promise<pg.Client> {
    const next = new pg.Client(connecting.config)
    surviveLoss(next)
    const ended = new Promise<void>((resolve) => next.once('end', resolve))
    try {
      await next.connect()
      await next.query(noticeSilence)
      await prepare(next)
    } catch (error) {
      await connecting.close(next.end())
      throw error
    }
    open = true
    const beating = setInterval(() => void beat(next), limits.heartbeatMs)
    beating.unref()
    void ended.then(() => {
      open = false
      clearInterval(beating)
      return connectAgain()
    })
    return next
  }

  async function beat(beaten: pg.Client): Promise<void> {
    try {
      await beaten.query(sign)
    } catch {
      // Cuts a connection with an unanswered query. Another connection follows.
      await connecting.close(beaten.end())
    }
  }

  async function connectAgain(): Promise<void> {
    while (!closed) {
      try {
        client = await connect()
        if (closed) await connecting.close(client.end())
        return
      } catch {
        // The server is away: queries reject until it is back.
        await new Promise((resolve) => setTimeout(resolve, againMs).unref())
      }
    }
  }

  return {
    query: (sql, values) => client.query(sql, values),
    isOpen: () => open,
    async close() {
      closed = true
      await connecting.close(client.end())
    },
  }
}
