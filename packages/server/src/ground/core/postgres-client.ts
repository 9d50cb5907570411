/** How this service connects to Postgres: every connection has limits of time, and none of them ends the process. */
import { Socket } from 'node:net'
import type pg from 'pg'
import { StorageError } from './errors.ts'

export type PostgresLimits = {
  /** To connect, and to wait for a connection of a full pool. */
  connectMs: number
  /** Of one statement; also how long a transaction may wait for its next statement. */
  statementMs: number
  /** How often a kept connection is asked for a sign of life, and how long the sign may take: twice this finds silence. */
  heartbeatMs: number
}

export const usualPostgresLimits: PostgresLimits = {
  connectMs: 10_000,
  statementMs: 15_000,
  heartbeatMs: 5_000,
}

/** The server ends a statement first, so that its connection can be used again. */
export const answerMs = 1_000
/** A connection that has not said goodbye after it is cut. */
const goodbyeMs = 2_000

export type PostgresConnector = {
  config: pg.ClientConfig
  /** Waits for connections to end, and cuts those that do not. */
  close(ending: Promise<unknown>): Promise<void>
}

/** Where and how to connect. The sockets are held here, as a client whose packets vanish never ends by itself. */
export function postgresConnector(
  url: string,
  { connectMs, statementMs }: PostgresLimits,
): PostgresConnector {
  const sockets = new Set<Socket>()
  return {
    config: {
      connectionString: url,
      connectionTimeoutMillis: connectMs,
      statement_timeout: statementMs,
      idle_in_transaction_session_timeout: statementMs,
      query_timeout: statementMs + answerMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      stream() {
        const socket = new Socket()
        sockets.add(socket)
        return socket.once('close', () => sockets.delete(socket))
      },
    },
    async close(ending) {
      const late = setTimeout(() => {
        for (const socket of sockets) socket.destroy()
      }, goodbyeMs)
      await ending
      clearTimeout(late)
    },
  }
}

/** `error` comes from a lost connection at any time, and nobody may listen just then; whoever queries is told by the query. */
export const surviveLoss = (client: pg.ClientBase): void => void client.on('error', () => {})

const timedOut = 'Query read timeout'

/** SQLSTATE: lost and refused connections, too many of them, shutdown, limits of time, a standby that cannot write. */
const awayStates = /^(08...|53[234]00|57P0.|57014|25P0[34]|25006|55P03)$/
const fullState = '53100'
/** Of the system. */
const awayCodes = /^(ECONN|ETIMEDOUT|EPIPE|EHOST|ENET|ENOTFOUND|EAI_|ENOENT)/
/** What `pg` and Kysely say without a code. */
const awayWords = new RegExp(
  `^(${timedOut}|Connection terminated|timeout e|Client (was closed|has encountered)|Postgres connection has been discarded)`,
)

/**
 * A database that is away or full as a `StorageError`, any other error as it is. `isCommit`: what was asked for takes
 * effect when it has come through, answer or not; a server that gives a reason has undone it.
 */
export function postgresError(error: unknown, isCommit = false): unknown {
  if (!(error instanceof Error) || error instanceof StorageError) return error
  const { code = '', message } = error as NodeJS.ErrnoException
  if (code === fullState) return new StorageError('full', error)
  if (awayStates.test(code)) return new StorageError('away', error)
  const isLost = awayCodes.test(code) || awayWords.test(message)
  return isLost ? new StorageError('away', error, isCommit) : error
}
