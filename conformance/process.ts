/** The server as an operator starts it: in its own process. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { flagsOfNode, programPath } from '@steward/base/program-fixture.ts'
import { createSqliteFile, newPostgresUrl } from '@steward/server/ground/database/fixture.ts'
import { adminKey, rootSecret } from './service.ts'

const main = programPath(import.meta.resolve('@steward/server/main.ts'))

/** scripts/test.ts sets `NODE_COMPILE_CACHE` for a faster start. */
export const inheritedEnvironment = {
  PATH: process.env['PATH'],
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
}

type ServerVariables = Record<string, string | undefined>

const environment = (env: ServerVariables) => ({
  ...inheritedEnvironment,
  PORT: '0',
  PLATFORM_ROOT_SECRET: rootSecret,
  API_KEY: adminKey,
  STEWARD_OFFLINE_THINK_MS: '0',
  RATE_LIMITS: 'off',
  ...env,
})

/** For sessions whose commands and calls stay on this machine. */
export const localSettings = {
  SANDBOX_PROVIDER: 'local',
  EGRESS_PROFILE: 'best_effort',
  EGRESS_ALLOW_PRIVATE: '127.0.0.0/8',
  EGRESS_TENANT_TARGETS: '127.0.0.0/8:*',
}

/** What outlives a server of a test: the folder, and with Postgres a new database. */
export const settingsIn = async (
  folder: string,
  database: 'sqlite' | 'postgres',
): Promise<Record<string, string>> => ({
  DATA_DIR: folder,
  SANDBOX_DIR: join(folder, 's'),
  ...(database === 'postgres' && { DATABASE_URL: await newPostgresUrl() }),
})

/**
 * Puts an SQLite file with tables into an existing data folder. A server that creates the tables takes a third longer
 * to start.
 */
async function createDatabase({
  DATA_DIR: folder,
  DATABASE_URL: postgres,
}: ServerVariables): Promise<void> {
  if (folder === undefined || postgres !== undefined || !existsSync(folder)) return
  if (!existsSync(join(folder, 'steward.db'))) await createSqliteFile(folder)
}

export type ServerProcess = AsyncDisposable & {
  base: string
  /** All output of the process so far. */
  said(): string
  /** Sends SIGKILL, which has the effect of a lost machine. */
  kill(): Promise<void>
  /** Suspends the process until `resume`. */
  pause(): void
  resume(): void
  /** Sends SIGTERM and resolves with the exit code. */
  stop(): Promise<number | null>
}

/** Runs one command of the server until it exits. */
export async function runServer(
  args: string[],
  env: ServerVariables,
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [...flagsOfNode, main, ...args], { env: environment(env) })
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (piece: string) => (stdout += piece))
  child.stderr.setEncoding('utf8').on('data', (piece: string) => (stderr += piece))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, stdout, stderr }
}

/** `program`: replaces the command line, for example to connect all names to an upstream of the test. */
export async function startServer(env: ServerVariables, program = main): Promise<ServerProcess> {
  await createDatabase(env)
  const child = spawn(process.execPath, [...flagsOfNode, program], {
    env: environment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = once(child, 'close')
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (piece: string) => (text += piece))
  const base = await new Promise<string>((resolve, reject) => {
    child.stderr.setEncoding('utf8').on('data', (piece: string) => {
      text += piece
      const url = /"url":"([^"]+)"/.exec(text)?.[1]
      if (url) resolve(url)
    })
    child.once('close', () => reject(new Error(`the server did not start: ${text}`)))
  })
  async function kill(): Promise<void> {
    child.kill('SIGKILL')
    await ended
  }
  async function stop(): Promise<number | null> {
    child.kill('SIGTERM')
    const [code] = (await ended) as [number | null]
    return code
  }
  return {
    ...{ base, kill, stop, said: () => text, [Symbol.asyncDispose]: kill },
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
  }
}
