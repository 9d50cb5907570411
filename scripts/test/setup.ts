/**
 * What test files share in a run: one Postgres, templates of databases, the schemas of the official clients, compiled
 * code and bundled programs. A file that runs without it (`node --test FILE`) makes by itself what it needs.
 */
import { execFile } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { templateVariables } from '@steward/server/ground/database/fixture.ts'
import { startPostgres, volatileFolder } from '@steward/server/ground/database/postgres-fixture.ts'
import { postgresDatabase } from '@steward/server/ground/database/postgres.ts'
import { sqliteDatabase } from '@steward/server/ground/database/sqlite.ts'
import { writeClientSchemas } from '../../conformance/client-answers.ts'
import { writeOpenAISchemas } from '../../conformance/openai-answers.ts'
import { root } from '../house/sources.ts'
import { bundlePrograms } from './programs.ts'

const cache = join(root, 'node_modules/.cache/steward')
const template = 'steward_template'
const dropEveryMs = 5_000

async function startDatabases(folder: string) {
  const server = await startPostgres({ isDurable: false })
  const admin = new pg.Client({ connectionString: server.url })
  await admin.connect()
  await admin.query(`create database ${template}`)
  const url = new URL(server.url)
  url.pathname = `/${template}`
  await (await postgresDatabase(url.href)).close()
  const sqlite = join(folder, 'steward.db')
  await (await sqliteDatabase(sqlite)).close()
  const stopDropping = dropOfEnded(admin)
  return {
    env: {
      STEWARD_TEST_POSTGRES: server.socketUrl,
      ...templateVariables({ sqlite, postgres: template }),
    },
    async stop() {
      await stopDropping()
      await admin.end()
      await server.stop()
    },
  }
}

/** Drops the databases of test processes that have ended: the name of a database holds the id of its process. */
function dropOfEnded(admin: pg.Client): () => Promise<void> {
  async function drop(): Promise<void> {
    const { rows } = await admin.query<{ name: string; pid: string }>(
      `select datname as name, split_part(datname, '_', 2) as pid from pg_database where starts_with(datname, 'test_')`,
    )
    for (const { name, pid } of rows)
      if (!existsSync(`/proc/${pid}`)) await admin.query(`drop database ${name} with (force)`)
  }
  let dropping = Promise.resolve()
  const timer = setInterval(() => void (dropping = dropping.then(drop)), dropEveryMs)
  return async () => {
    clearInterval(timer)
    await dropping
  }
}

/**
 * Compiles all files of a server once. A server has a thousand files, which cost each process half a second. Node
 * writes the compiled files when a process ends by itself, but not when a test kills the process.
 */
async function compileAll(compiled: string, programs: string | undefined): Promise<void> {
  const load = `await Promise.all(process.argv.slice(1).map((entry) => import(entry)))`
  const entries = [
    'server/start/start',
    'worker/start',
    'worker/harness/inputs',
    'worker/harness/calls',
  ].map((file) => `@steward/${file}.ts`)
  if (programs !== undefined) entries.push(...(await bundlePrograms(programs)))
  const env = { ...process.env, NODE_COMPILE_CACHE: compiled }
  const args = ['--input-type=module', '-e', load, ...entries]
  await promisify(execFile)(process.execPath, args, { cwd: root, env })
}

let stop = async (): Promise<void> => {}

/** Sets the variables by which the processes of test files find what they share. */
export async function setUp(): Promise<void> {
  const isLong = process.env['STEWARD_TEST_LONG'] === '1'
  const compiled = join(cache, 'compiled')
  const programs = isLong ? undefined : join(cache, 'programs')
  // Each commit of SQLite waits for the disk of its folder. The paths of sockets below are short.
  const folder = mkdtempSync(join(volatileFolder(), 't-'))
  const removeFolder = () => rmSync(folder, { recursive: true, force: true })
  process.once('exit', removeFolder)
  // Some tests run as another user.
  chmodSync(folder, 0o755)
  const [databases] = await Promise.all([
    startDatabases(folder),
    compileAll(compiled, programs),
    writeClientSchemas(),
    writeOpenAISchemas(),
  ])
  stop = async () => {
    await databases.stop()
    removeFolder()
  }
  Object.assign(process.env, databases.env, { TMPDIR: folder, NODE_COMPILE_CACHE: compiled })
  if (programs !== undefined) process.env['STEWARD_TEST_PROGRAMS'] = programs
}

export const tearDown = (): Promise<void> => stop()
