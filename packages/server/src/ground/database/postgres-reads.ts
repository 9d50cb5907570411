/** Connections to Postgres that readers share. */
import type { CompiledQuery } from 'kysely'
import pg from 'pg'
import { postgresError, surviveLoss } from '../core/postgres-client.ts'
import { postgresTypes } from './postgres-driver.ts'
import { statementName, renewNames } from './statement.ts'

type SharedConnection = { client: pg.Client | undefined; opened: Promise<unknown>; running: number }

/**
 * Runs selects without waiting for the answers of earlier ones (pipelining). Selects of one round of the event loop are
 * sent in one write. A connection that is lost, or that answers a select too late, fails all its unanswered selects;
 * the next select opens a new connection.
 */
export function sharedReads(config: pg.ClientConfig, count: number) {
  const connections: SharedConnection[] = Array.from({ length: count }, () => ({
    client: undefined,
    opened: Promise.resolve(),
    running: 0,
  }))

  function connect(connection: SharedConnection): pg.Client {
    const client = new pg.Client({ ...config, pipeline: true, types: postgresTypes })
    surviveLoss(client)
    client.once('end', () => giveUp(connection, client))
    connection.client = client
    connection.opened = client.connect()
    connection.opened.catch(() => giveUp(connection, client))
    return client
  }

  /** Ends the connection: a late answer would be taken for the answer of a later select. */
  function giveUp(connection: SharedConnection, client: pg.Client): void {
    if (connection.client !== client) return
    connection.client = undefined
    void client.end()
  }

  async function run<Row>(query: CompiledQuery<Row>): Promise<Row[]> {
    try {
      return await runOnce(query)
    } catch (error) {
      if (renewNames(error)) return runOnce(query)
      throw error
    }
  }

  async function runOnce<Row>({ sql: text, parameters }: CompiledQuery<Row>): Promise<Row[]> {
    const idlest = (a: SharedConnection, b: SharedConnection) => (b.running < a.running ? b : a)
    const connection = connections.reduce(idlest)
    const name = statementName(text)
    connection.running++
    const client = connection.client ?? connect(connection)
    try {
      await connection.opened
      joinWrites(client)
      const { rows } = await client.query<object & Row>({
        text,
        values: [...parameters],
        ...(name !== undefined && { name }),
      })
      return rows
    } catch (error) {
      if (!(error instanceof pg.DatabaseError)) giveUp(connection, client)
      throw postgresError(error)
    } finally {
      connection.running--
    }
  }

  return {
    run,
    async close(): Promise<void> {
      await Promise.all(connections.map(async ({ client }) => client?.end()))
    },
  }
}

const joining = new WeakSet<pg.Client>()

/** Buffers writes until the next round of the event loop, so that they leave together. */
function joinWrites(client: pg.Client): void {
  if (joining.has(client)) return
  const { stream } = client.connection
  joining.add(client)
  stream.cork()
  setImmediate(() => {
    joining.delete(client)
    stream.uncork()
  })
}
