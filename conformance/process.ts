/** The server as an operator starts it: a process of its own. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { flagsOfNode, programOf } from '@steward/base/program-fixture.ts'
import { createSqliteFile } from '@steward/server/ground/database/fixture.ts'
import { adminKey, rootSecret } from './service.ts'

const main = programOf(import.meta.resolve('@steward/server/main.ts'))

/** `NODE_COMPILE_CACHE`: set by scripts/test.ts, for a faster start. */
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

/** Into a folder that exists: its first server need not make the tables, which takes a third of a start. */
async function layDatabase({
  DATA_DIR: folder,
  DATABASE_URL: postgres,
}: ServerVariables): Promise<void> {
  if (folder === undefined || postgres !== undefined || !existsSync(folder)) return
  if (!existsSync(join(folder, 'steward.db'))) await createSqliteFile(folder)
}

export type ServerProcess = AsyncDisposable & {
  base: string
  /** All that it has written to its outputs. */
  said(): string
  /** Ends it without a word, as a lost machine would. */
  kill(): Promise<void>
  /** It neither runs nor ends until `resume`. */
  pause(): void
  resume(): void
  /** Tells it to end, and resolves with its exit code when it has. */
  stop(): Promise<number | null>
}

/** Runs a command to its end. */
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

/** `program`: another than the command line, for a server whose names lead to a test's upstream. */
export async function startServer(env: ServerVariables, program = main): Promise<ServerProcess> {
  await layDatabase(env)
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
