/** The unmodified worker of the official client, in two versions, each as its own process. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { programPath } from '@steward/base/program-fixture.ts'
import { isLongRun } from '@steward/server/ground/database/fixture.ts'
import { inheritedEnvironment } from './process.ts'
import type { WorkerPool } from './workers.ts'

/** The newest version, and the first version whose worker supports claims. */
const versions = ['1.14.0', '0.120.0'] as const

/** Both versions in `npm run test:long` and in `npm test -- WORD`; otherwise the newest. */
export const officialVersions: readonly (typeof versions)[number][] = isLongRun
  ? versions
  : versions.slice(0, 1)

const program = programPath(new URL('./official-worker.ts', import.meta.url))

export type OfficialWorker = AsyncDisposable & {
  /** Working folder of the worker: a new one unless the options name one. */
  folder: string
  /** All output of the process so far. */
  said(): string
  /** Resolves with the exit code; null when the process was killed. */
  gone: Promise<number | null>
  signal(name: 'SIGTERM' | 'SIGKILL'): void
}

export type OfficialWorkerOptions = {
  version?: (typeof versions)[number]
  folder?: string
  maxIdleMs?: number
  /** Words before the command, such as those that enter a network namespace. */
  by?: readonly [string, ...string[]]
}

/** The variables for a worker of one work item. They contain no environment key. */
export const itemVariables = (
  pool: WorkerPool,
  item: { id: string; secret: string; data: { id: string } },
): Record<string, string> => ({
  ANTHROPIC_ENVIRONMENT_ID: pool.environment,
  ANTHROPIC_WORK_ID: item.id,
  ANTHROPIC_SESSION_ID: item.data.id,
  ANTHROPIC_WORK_SECRET: item.secret,
})

export const poolVariables = (pool: WorkerPool): Record<string, string> => ({
  ANTHROPIC_ENVIRONMENT_ID: pool.environment,
  ANTHROPIC_ENVIRONMENT_KEY: pool.key,
})

/** Starts a worker with the base URL of the service and these variables only. */
export async function startOfficialWorker(
  { base }: { base: string },
  variables: Record<string, string>,
  { version = '1.14.0', folder, maxIdleMs = 500, by }: OfficialWorkerOptions = {},
): Promise<OfficialWorker> {
  const own = folder ?? (await mkdtemp(join(tmpdir(), 'steward-official-')))
  const node = [process.execPath, program, own, String(maxIdleMs)] as const
  const [command, ...words] = by ? ([...by, ...node] as const) : node
  const env = { ...inheritedEnvironment, ANTHROPIC_BASE_URL: base, ANTHROPIC_LOG: 'info' }
  const child = spawn(command, words, {
    env: { ...env, OFFICIAL_CLIENT: version, ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let text = ''
  for (const output of [child.stdout, child.stderr])
    output.setEncoding('utf8').on('data', (piece: string) => (text += piece))
  const gone = once(child, 'exit').then(([code]) => code as number | null)
  return {
    ...{ folder: own, gone, said: () => text },
    signal: (name) => void child.kill(name),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await gone
      if (folder === undefined) await rm(own, { recursive: true, force: true })
    },
  }
}
