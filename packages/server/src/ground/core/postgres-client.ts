/** Connections to Postgres. Every connection has time limits, and its loss ends no process. */
import { Socket } from 'node:net'
import type pg from 'pg'
import { StorageError } from './errors.ts'

export type PostgresLimits = {
  /** Milliseconds to connect, and to wait for a connection of a full pool. */
  connectMs: number
  /** Milliseconds of one statement; also how long a transaction may wait for its next statement. */
  statementMs: number
  /** Milliseconds between heartbeats, and for each answer. Silence is found after twice as long. */
  heartbeatMs: number
}

export const usualPostgresLimits: PostgresLimits = {
  connectMs: 10_000,
  statementMs: 15_000,
  heartbeatMs: 5_000,
}

/** Milliseconds that the client waits beyond the server's limit, so that the server ends the statement first. */
export const answerMs = 1_000
/** Milliseconds for connections to end. The rest is cut. */
const goodbyeMs = 2_000

export type PostgresConnector = {
  config: pg.ClientConfig
  /** Waits for connections to end, and cuts those that do not. */
  close(ending: Promise<unknown>): Promise<void>
}

/** The settings of connections. Holds their sockets, because a client whose packets vanish never ends by itself. */
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

/** Ignores `error` events, which a lost connection emits at any time. The next query rejects instead. */
export const surviveLoss = (client: pg.ClientBase): void => void client.on('error', () => {})

const timedOut = 'Query read timeout'

/** SQLSTATE: lost and refused connections, too many of them, shutdown, limits of time, a standby that cannot write. */
const awayStates = /^(08...|53[234]00|57P0.|57014|25P0[34]|25006|55P03)$/
const fullState = '53100'
/** Error codes of the system for a server that is not reached. */
const awayCodes = /^(ECONN|ETIMEDOUT|EPIPE|EHOST|ENET|ENOTFOUND|EAI_|ENOENT)/
/** Messages of `pg` and Kysely that come without a code. */
const awayWords = new RegExp(
  `^(${timedOut}|Connection terminated|timeout e|Client (was closed|has encountered)|Postgres connection has been discarded)`,
)

/**
 * Turns the error of a database that is away or full into a `StorageError`. Returns any other error unchanged.
 * `isCommit`: the statement commits, so that without an answer nobody knows whether it took effect. A server that
 * answers with an error has undone it.
 */
export function postgresError(error: unknown, isCommit = false): unknown {
  if (!(error instanceof Error) || error instanceof StorageError) return error
  const { code = '', message } = error as NodeJS.ErrnoException
  if (code === fullState) return new StorageError('full', error)
  if (awayStates.test(code)) return new StorageError('away', error)
  const isLost = awayCodes.test(code) || awayWords.test(message)
  return isLost ? new StorageError('away', error, isCommit) : error
}
