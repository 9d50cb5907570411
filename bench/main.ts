/** Measures the server as an operator runs it, over a stub model in another process. Never part of the tests. */
import { parseArgs } from 'node:util'
import { workspaces } from './cases/checkpoints.ts'
import { egress } from './cases/egress.ts'
import { furnished } from './cases/furnished.ts'
import { packages } from './cases/packages.ts'
import { givenFiles } from './cases/files.ts'
import { largeFiles } from './cases/large-files.ts'
import { diskSync, idleStreams, kills, starts } from './cases/process.ts'
import { memories } from './cases/memory.ts'
import { repositories } from './cases/repositories.ts'
import { appends, pages, requests } from './cases/requests.ts'
import { setUp } from './cases/setup.ts'
import {
  bashTurns,
  compactedSession,
  longSession,
  manySessions,
  shortTurns,
} from './cases/turns.ts'
import { soak } from './cases/soak.ts'
import { work } from './cases/work.ts'
import { client } from './client.ts'
import type { Figure } from './figures.ts'
import { report, table } from './figures.ts'
import { startPostgres } from '../scripts/postgres.ts'
import { startServer, stubModel, temporaryFolder } from './processes.ts'

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    database: { type: 'string' },
    minutes: { type: 'string', default: '60' },
    help: { type: 'boolean' },
  },
})
if (values.help) {
  console.log('npm run bench [-- --only <part of a name>] [--database sqlite|postgres]')
  console.log('npm run bench -- --only soak [--minutes 60] [--database sqlite|postgres]')
  process.exit(0)
}
const wanted = (name: string) => !values.only || name.includes(values.only)

async function measure(database: string, env: Record<string, string>): Promise<Figure[]> {
  const folder = temporaryFolder()
  const model = await stubModel()
  const figures: Figure[] = []
  const take = async (name: string, cases: AsyncGenerator<Figure>) => {
    if (!wanted(name)) return
    for await (const figure of cases) figures.push(report(database, figure))
  }
  figures.push(report(database, diskSync(folder.path)))
  await take('start', starts(folder.path, env))
  const server = await startServer(folder.path, env)
  const call = client(server.base)
  const place = await setUp(server.base, call, model.url)
  for (const [name, run] of Object.entries({
    requests,
    shortTurns,
    bashTurns,
    givenFiles,
    manySessions,
    pages,
    appends,
    longSession,
    compactedSession,
  })) {
    await take(name, run(place))
  }
  await call.close()
  await server.stop()
  const again = (base: string) => setUpAgain(base, model.url)
  await take('idleStreams', idleStreams(folder.path, env, again))
  await take('kills', kills(folder.path, env, again))
  await take('work', work(folder.path, env, again))
  await take('largeFiles', largeFiles(folder.path, env))
  await take('egress', egress(folder.path, env, again))
  if (database === 'sqlite') await take('workspaces', workspaces(folder.path))
  if (database === 'sqlite') await take('memory', memories())
  if (database === 'sqlite') await take('furnished', furnished())
  if (database === 'sqlite') await take('repositories', repositories())
  if (database === 'sqlite') await take('packages', packages())
  if (values.only === 'soak')
    await take('soak', soak(folder.path, env, { setUp: again, minutes: Number(values.minutes) }))
  model.stop()
  folder.remove()
  return figures
}

/** Cards and agents are there already after the first start; their names may come again, cards' may not. */
async function setUpAgain(base: string, modelUrl: string) {
  const call = client(base)
  const { data } = (await call.get('/v1/ext/model_cards')) as { data: { id: string }[] }
  for (const { id } of data) await call.remove(`/v1/ext/model_cards/${id}`)
  return setUp(base, call, modelUrl)
}

const tables: string[] = []
if (values.database !== 'postgres') tables.push(table('SQLite', await measure('sqlite', {})))
if (values.database !== 'sqlite') {
  const server = await startPostgres()
  try {
    tables.push(table('Postgres', await measure('postgres', { DATABASE_URL: server.url })))
  } finally {
    await server.stop()
  }
}
console.log(`\n${tables.join('\n\n')}`)
