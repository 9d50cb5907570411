/** Our worker as its owner starts it: in its own process, with its own folder. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { flagsOfNode, programPath } from '@steward/base/program-fixture.ts'
import { inheritedEnvironment } from './process.ts'
import type { ServiceClients } from './service.ts'
import type { WorkerPool } from './workers.ts'

const main = programPath(import.meta.resolve('@steward/worker/main.ts'))

export type WorkerProcess = AsyncDisposable & {
  dir: string
  pid: number
  said(): string
  /** Resolves when the output matches. */
  until(pattern: RegExp): Promise<void>
  /** Sends SIGKILL, which has the effect of a lost machine. */
  kill(): Promise<void>
  /** Suspends the process until `resume`, as if its network were cut. */
  pause(): void
  resume(): void
  /** Sends SIGTERM and resolves with the exit code. */
  stop(): Promise<number | null>
}

export const workerVariables = ({ base }: Pick<ServiceClients, 'base'>, pool: WorkerPool) => ({
  WORKER_BASE_URL: base,
  WORKER_ENVIRONMENT_ID: pool.environment,
  WORKER_ENVIRONMENT_KEY: pool.key,
  WORKER_POLL_SECONDS: '0',
})

/** `by`: words before the command, such as those that enter a network namespace. */
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
  // Child processes of the worker may keep its outputs open after its exit.
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
