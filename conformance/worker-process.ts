/** Our worker as its owner starts it: a process of its own, with a folder of its own. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { flagsOfNode, programOf } from '@steward/base/program-fixture.ts'
import { inheritedEnvironment } from './process.ts'
import type { ServiceClients } from './service.ts'
import type { WorkerPool } from './workers.ts'

const main = programOf(import.meta.resolve('@steward/worker/main.ts'))

export type WorkerProcess = AsyncDisposable & {
  dir: string
  pid: number
  said(): string
  /** Resolves when it has written something that matches. */
  until(pattern: RegExp): Promise<void>
  /** Ends it without a word, as a lost machine would. */
  kill(): Promise<void>
  /** Neither runs nor ends, as behind a network that is cut. */
  pause(): void
  resume(): void
  /** SIGTERM; its exit code. */
  stop(): Promise<number | null>
}

export const workerVariables = ({ base }: Pick<ServiceClients, 'base'>, pool: WorkerPool) => ({
  WORKER_BASE_URL: base,
  WORKER_ENVIRONMENT_ID: pool.environment,
  WORKER_ENVIRONMENT_KEY: pool.key,
  WORKER_POLL_SECONDS: '0',
})

/** `by`: words before the command, to run it elsewhere on this machine. */
export async function startWorker(
  env: Record<string, string>,
  by?: readonly [string, ...string[]],
): Promise<WorkerProcess> {
  const dir = await mkdtemp(join(tmpdir(), 'steward-worker-'))
  const node = [process.execPath, ...flagsOfNode, main] as const
  const [command, ...words] = by ? ([...by, ...node] as const) : node
  const child = spawn(command, words, {
    env: { ...inheritedEnvironment, WORKER_DIR: dir, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  // What it has started may hold its outputs for longer.
  const ended = once(child, 'exit') as Promise<[number | null]>
  let text = ''
  let look = () => {}
  child.stderr.setEncoding('utf8').on('data', (piece: string) => {
    text += piece
    look()
  })
  const until = (pattern: RegExp) =>
    new Promise<void>((resolve, reject) => {
      look = () => {
        if (pattern.test(text)) resolve()
      }
      child.once('close', () => reject(new Error(`the worker ended: ${text}`)))
      look()
    })
  const end = async (signal: 'SIGKILL' | 'SIGTERM') => {
    child.kill(signal)
    return (await ended)[0]
  }
  await until(/"message":"working"/)
  return {
    ...{ dir, pid: child.pid ?? 0, until, said: () => text },
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    kill: async () => void (await end('SIGKILL')),
    stop: () => end('SIGTERM'),
    async [Symbol.asyncDispose]() {
      await end('SIGKILL')
      await rm(dir, { recursive: true, force: true })
    },
  }
}
