import type { ChildProcess } from 'node:child_process'
import { fork, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))
/** As `npm start` does. */
const asStarted = ['--max-semi-space-size=8']

export const key = 'bench-key'

export async function stubModel(): Promise<{ url: string; stop(): void }> {
  const child = fork(at('./stub-model.ts'))
  const port = await new Promise<unknown>((resolve) => child.once('message', resolve))
  return { url: `http://127.0.0.1:${String(port)}`, stop: () => child.kill() }
}

export type Server = {
  base: string
  startedMs: number
  child: ChildProcess
  rss(): number
  stop(): Promise<void>
}

/** The server as an operator starts it, on a port of its own; `startedMs` is until `/healthz` answers. */
export async function startServer(
  dataDir: string,
  env: Record<string, string> = {},
): Promise<Server> {
  const port = await freePort()
  const base = `http://127.0.0.1:${port}`
  const began = performance.now()
  const child = spawn(process.execPath, [...asStarted, at('../packages/server/src/main.ts')], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      PORT: String(port),
      DATA_DIR: dataDir,
      SANDBOX_DIR: join(dataDir, 'sandboxes'),
      API_KEY: key,
      PLATFORM_ROOT_SECRET: 'a root secret for the benchmark',
      EGRESS_ALLOW_PRIVATE: '127.0.0.0/8',
      STEWARD_LOG_LEVEL: 'error',
      NODE_COMPILE_CACHE: join(tmpdir(), 'steward-bench-cache'),
      ...env,
    },
  })
  while (!(await answers(base))) {
    if (child.exitCode !== null) throw new Error('the server did not start; its message is above')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  const startedMs = performance.now() - began
  return {
    base,
    startedMs,
    child,
    rss: () =>
      Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) * 1024,
    stop: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve())
        child.kill('SIGTERM')
      }),
  }
}

const answers = (base: string) =>
  fetch(`${base}/healthz`).then(
    (response) => response.ok,
    () => false,
  )

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}

/** A folder that sessions' own users can reach, removed at the end. */
export function temporaryFolder(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'steward-bench-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}
