/** Measures the server as an operator runs it, over a stub model in another process. Never part of the tests. */
import { parseArgs } from 'node:util'
import { writeFileSync } from 'node:fs'
import { describeProblem } from '@steward/protocol/problems.ts'
import { z } from 'zod'
import { fileURLToPath } from 'node:url'
import { interleave } from './against.ts'
import type { Case, Database } from './cases.ts'
import { cases, casesNamed, databases } from './cases.ts'
import { diskSync } from './cases/process.ts'
import type { Place } from './cases/setup.ts'
import { setUp } from './cases/setup.ts'
import { client } from './client.ts'
import type { Figure } from './figures.ts'
import { columns, report, table } from './figures.ts'
import { installCommand } from './needs.ts'
import { startPostgres } from '../scripts/postgres.ts'
import { profileServers, startServer, stubModel, temporaryFolder } from './processes.ts'
import { profileTable } from './profile.ts'
import type { Samples } from './samples.ts'
import { addSample, compareSamples, readResults, samplesTable, writeResults } from './samples.ts'

/** What the exit says: a case has failed, the arguments are wrong, or a case was skipped. */
const exits = { failed: 1, usage: 2, skipped: 3 } as const

const help = `npm run bench -- [options]

  --only NAME         one case, or all whose names contain this
  --database NAME     sqlite or postgres; both without it
  --rounds N          measure N times, and tell medians with their spread
  --out FILE          keep the figures as JSON
  --compare FILE      old and new side by side: FILE was written by --out
  --against FOLDER    measure another checkout in turn with this one: old, new, old, new …
  --minutes N         how long the soak lasts; 60 without it
  --profile NAME      the cases of that name, with a CPU profile of their servers: prints the shares by room and the
                      hottest functions, and writes NAME-DATABASE-N.cpuprofile to the current folder, for the
                      developer tools of a browser. A profile begins with the first answer of its server

Was a change worth it?
  npm run bench -- --only shortTurns --rounds 5 --out before.json     before the change
  npm run bench -- --only shortTurns --rounds 5 --compare before.json after it
On a noisy machine, with the old state in another checkout:
  npm run bench -- --only shortTurns --rounds 5 --against ../other
"apart" in the last column: the spreads of old and new have nothing in common.

Exits with ${exits.failed} where a case has failed, with ${exits.skipped} where one was skipped because a program is missing.

Cases:
${columns(cases.map(({ name, measures, onlyNamed }) => [`  ${name}`, `${measures}${onlyNamed ? '; only where it is named' : ''}`]))}`

const count = z.coerce.number<string>().int().min(1)
const Options = z.object({
  only: z.string().optional(),
  database: z.enum(databases).optional(),
  rounds: count.optional(),
  out: z.string().optional(),
  compare: z.string().optional(),
  against: z.string().optional(),
  minutes: count.default(60),
  profile: z.string().optional(),
})

function readOptions() {
  const text = { type: 'string' } as const
  const names = ['only', 'database', 'rounds', 'out', 'compare', 'against', 'minutes', 'profile']
  try {
    const { values } = parseArgs({
      options: {
        ...Object.fromEntries(names.map((name) => [name, text])),
        help: { type: 'boolean' },
      },
    })
    if (values['help']) {
      console.log(help)
      process.exit(0)
    }
    const options = Options.parse(values, { error: describeProblem })
    const { only, profile, against } = options
    if (profile !== undefined && (only ?? against) !== undefined)
      throw new Error(
        '--profile names its cases itself, and goes with neither --only nor --against',
      )
    const chosen = casesNamed(profile ?? only)
    if (chosen.length > 0) return { ...options, chosen }
    console.error(`No case is called ${profile ?? only}.\n\n${help}`)
  } catch (error) {
    const issues =
      error instanceof z.ZodError
        ? error.issues.map(({ path, message }) => `--${path.join('.')}: ${message}`).join('\n')
        : String(error)
    console.error(`${issues}\n\n${help}`)
  }
  return process.exit(exits.usage)
}
const options = readOptions()

/** Named before anything starts, so that nobody waits for an hour to learn of it. */
function sortOut(chosen: readonly Case[]): { ready: Case[]; skipped: number } {
  const ready: Case[] = []
  for (const each of chosen) {
    const command = installCommand(each.needs)
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

/** Cards and agents are there already after the first start; their names may come again, cards' may not. */
async function setUpAgain(base: string, modelUrl: string): Promise<Place> {
  const call = client(base)
  const { data } = (await call.get('/v1/ext/model_cards')) as { data: { id: string }[] }
  for (const { id } of data) await call.remove(`/v1/ext/model_cards/${id}`)
  return setUp(base, call, modelUrl)
}

/** A server that lasts until a case wants one of its own. */
function sharedServer(folder: string, env: Record<string, string>, modelUrl: string) {
  let opened: { place: Place; close: () => Promise<void> } | undefined
  return {
    async open(): Promise<Place> {
      if (opened) return opened.place
      const server = await startServer(folder, env)
      const place = await setUpAgain(server.base, modelUrl)
      const close = async () => {
        await place.call.close()
        await server.stop()
      }
      opened = { place, close }
      return place
    },
    async close(): Promise<void> {
      await opened?.close()
      opened = undefined
    },
  }
}

async function measure(ready: readonly Case[], database: Database, env: Record<string, string>) {
  const place = temporaryFolder()
  const folder = place.path
  const model = await stubModel()
  const figures: Figure[] = [report(database, diskSync(folder))]
  const shared = sharedServer(folder, env, model.url)
  const setUpHere = (base: string) => setUpAgain(base, model.url)
  const stage = {
    folder,
    env,
    minutes: options.minutes,
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
  place.remove()
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

/** Prints what each server of the case did with its time, and fails where the case started none. */
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
const old: Samples = options.compare ? readResults(options.compare) : new Map()
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
        interleave(pair, each, { database, rounds }),
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
