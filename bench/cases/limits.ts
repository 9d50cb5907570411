/** The limits of this machine without any code of the service. No figure of the service can be better. */
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import type { Figure } from '../figures.ts'
import { median } from '../figures.ts'
import { plain } from '../line.ts'
import { echoServer } from '../processes.ts'

const [clients, times] = [16, 500]

/** The time of a sync of the disk is printed at the beginning of each run. */
export async function* limits(folder: string, env: Record<string, string>): AsyncGenerator<Figure> {
  const url = env['DATABASE_URL']
  if (url !== undefined) return yield* postgresLimits(url)
  yield await requestRate()
  yield commitTime(join(folder, 'limits.db'))
}

async function requestRate(): Promise<Figure> {
  const echo = await echoServer()
  const base = `http://127.0.0.1:${echo.port}`
  const request = `GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`
  const lines = await Promise.all(Array.from({ length: clients }, () => plain(base)))
  const rates: number[] = []
  for (let round = 0; round < 6; round++) {
    const began = performance.now()
    let count = 0
    await Promise.all(
      lines.map(async (line) => {
        while (performance.now() < began + 1_000) {
          await line.ask(request)
          count++
        }
      }),
    )
    // The first round warms up.
    if (round > 0) rates.push((count / (performance.now() - began)) * 1000)
  }
  for (const line of lines) line.close()
  echo.stop()
  return { what: 'node:http alone, 16 clients', value: median(rates), unit: '/s', rate: true }
}

function commitTime(path: string): Figure {
  const db = new DatabaseSync(path)
  db.exec('pragma journal_mode = wal; pragma synchronous = full; create table t (x text)')
  const insert = db.prepare('insert into t values (?)')
  const commits = Array.from({ length: times }, () => timed(() => insert.run('x'.repeat(200))))
  db.close()
  return { what: 'SQLite alone: insert and commit', value: median(commits), unit: 'ms' }
}

function timed(act: () => unknown): number {
  const began = performance.now()
  act()
  return performance.now() - began
}

async function* postgresLimits(url: string): AsyncGenerator<Figure> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('create table limits_probe (x text)')
  await client.query('listen limits_probe')
  const statements = {
    'a round trip': { name: 'one', text: 'select 1' },
    'insert and commit': {
      name: 'insert',
      text: 'insert into limits_probe values ($1)',
      values: ['x'.repeat(200)],
    },
  }
  for (const [what, query] of Object.entries(statements)) {
    const value = await medianOf(() => client.query(query))
    yield { what: `Postgres alone: ${what}`, value, unit: 'ms' }
  }
  const value = await medianOf(async () => {
    const { promise, resolve } = Promise.withResolvers<unknown>()
    client.once('notification', resolve)
    await client.query('notify limits_probe')
    await promise
  })
  yield { what: 'Postgres alone: notify until notified', value, unit: 'ms' }
  await client.query('drop table limits_probe')
  await client.end()
}

async function medianOf(act: () => Promise<unknown>): Promise<number> {
  const taken: number[] = []
  for (let n = 0; n < times; n++) {
    const began = performance.now()
    await act()
    taken.push(performance.now() - began)
  }
  return median(taken)
}
