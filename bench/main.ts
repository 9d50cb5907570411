/** Measures the server as an operator runs it, over a stub model in another process. Never part of the tests. */
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { interleave } from './against.ts'
import type { Case, Database } from './cases.ts'
import { databases, programsOf } from './cases.ts'
import { diskSync } from './cases/process.ts'
import type { BenchSetup } from './cases/setup.ts'
import { setUp } from './cases/setup.ts'
import { client } from './client.ts'
import type { Figure } from './figures.ts'
import { report, table } from './figures.ts'
import type { Options } from './options.ts'
import { exits, help, readOptions } from './options.ts'
import { installCommand } from './required-programs.ts'
import { startPostgres } from '@steward/server/ground/database/postgres-fixture.ts'
import { profileServers, startServer, stubModel, temporaryFolder } from './processes.ts'
import { profileTable } from './profile.ts'
import type { Samples } from './samples.ts'
import { addSample, compareSamples, samplesTable, writeResults } from './samples.ts'

function optionsOrExit(): Options {
  try {
    const options = readOptions(process.argv.slice(2))
    if (options.help !== true) return options
    console.log(help)
    return process.exit(0)
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n--help has more.`)
    return process.exit(exits.usage)
  }
}
const options = optionsOrExit()

/** Names the skipped cases before anything starts, so that nobody waits for an hour to learn of them. */
function sortOut(chosen: readonly Case[]): { ready: Case[]; skipped: number } {
  const ready: Case[] = []
  for (const each of chosen) {
    const command = installCommand(programsOf(each))
    if (command) process.stderr.write(`skipped: ${each.name} (${each.measures}). ${command}\n`)
    else ready.push(each)
  }
  return { ready, skipped: chosen.length - ready.length }
}

const failures: string[] = []
async function attempt(what: string, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    failures.push(what)
    console.error(`failed: ${what}`, error)
  }
}

/**
 * The cards and agents of the first start exist already. Agents may share a name; cards may not, so they are removed.
 */
async function setUpAgain(base: string, modelUrl: string): Promise<BenchSetup> {
  const call = client(base)
  const { data } = (await call.get('/v1/ext/model_cards')) as { data: { id: string }[] }
  for (const { id } of data) await call.remove(`/v1/ext/model_cards/${id}`)
  return setUp(base, call, modelUrl)
}

/** A server that lasts until a case starts its own server. */
function sharedServer(folder: string, env: Record<string, string>, modelUrl: string) {
  let opened: { setup: BenchSetup; close: () => Promise<void> } | undefined
  return {
    async open(): Promise<BenchSetup> {
      if (opened) return opened.setup
      const server = await startServer(folder, env)
      const setup = await setUpAgain(server.base, modelUrl)
      const close = async () => {
        await setup.call.close()
        await server.stop()
      }
      opened = { setup, close }
      return setup
    },
    async close(): Promise<void> {
      await opened?.close()
      opened = undefined
    },
  }
}

async function measure(ready: readonly Case[], database: Database, env: Record<string, string>) {
  const setup = temporaryFolder()
  const folder = setup.path
  const model = await stubModel()
  const figures: Figure[] = [report(database, diskSync(folder))]
  const shared = sharedServer(folder, env, model.url)
  const setUpHere = (base: string) => setUpAgain(base, model.url)
  const stage = {
    folder,
    env,
    minutes: options.minutes ?? 60,
    setUp: setUpHere,
    shared: () => shared.open(),
  }
  for (const { name, sharesServer, run } of ready) {
    if (!sharesServer || options.profile !== undefined) await shared.close()
    const measured = async () => {
      for await (const figure of run(stage)) figures.push(report(database, figure))
      if (options.profile !== undefined) await shared.close()
    }
    await attempt(`${name} on ${database}`, () =>
      options.profile === undefined ? measured() : profiling(name, database, measured),
    )
  }
  await shared.close()
  model.stop()
  setup.remove()
  return figures
}

async function withDatabase(
  database: Database,
  use: (env: Record<string, string>) => Promise<void>,
): Promise<void> {
  if (database === 'sqlite') return use({})
  const server = await startPostgres()
  try {
    await use({ DATABASE_URL: server.url })
  } finally {
    await server.stop()
  }
}

/** Prints the profile of each server that the case started. Fails when the case started no server. */
async function profiling(name: string, database: Database, run: () => Promise<void>) {
  let count = 0
  profileServers((profile) => {
    const file = `${name}-${database}-${++count}.cpuprofile`
    writeFileSync(file, JSON.stringify(profile))
    console.log(`\n${file}\n\n${profileTable(profile)}\n`)
  })
  await run()
  if (count === 0) throw new Error(`${name} starts no server that it stops again: no profile`)
}

const { ready, skipped } = sortOut(options.chosen)
const wanted = databases.filter((name) => (options.database ?? name) === name)
const on = (database: Database) =>
  ready.filter(({ sqliteAlone }) => database === 'sqlite' || !sqliteAlone)
const { old } = options
const now: Samples = new Map()

if (options.against) {
  const rounds = options.rounds ?? 3
  const here = fileURLToPath(new URL('..', import.meta.url))
  const pair = {
    old: { checkout: options.against, samples: old },
    now: { checkout: here, samples: now },
  }
  for (const database of wanted)
    for (const each of on(database))
      await attempt(`${each.name} on ${database}`, () =>
        interleave(pair, each, { database, rounds, minutes: options.minutes }),
      )
} else {
  const tables: string[] = []
  for (const database of wanted) {
    if (on(database).length === 0) continue
    await withDatabase(database, async (env) => {
      for (let round = 1; round <= (options.rounds ?? 1); round++) {
        const figures = await measure(on(database), database, env)
        for (const figure of figures) addSample(now, database, figure)
        tables.push(table(database === 'sqlite' ? 'SQLite' : 'Postgres', figures))
      }
    })
  }
  if (options.rounds === undefined) console.log(`\n${tables.join('\n\n')}`)
  else console.log(`\n${samplesTable(now)}`)
}
if (options.against || options.compare) console.log(`\n${compareSamples(old, now)}`)
if (options.out) writeResults(options.out, now)
if (failures.length > 0) console.error(`\nfailed: ${failures.join(', ')}`)
if (skipped > 0) console.error(`\n${skipped} of the cases were skipped; see the beginning.`)
process.exitCode = failures.length > 0 ? exits.failed : skipped > 0 ? exits.skipped : 0
