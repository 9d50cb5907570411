/** The processes of a run: the server, the stub model and the upstream, each started and stopped here. */
import type { ChildProcess } from 'node:child_process'
import { execFileSync, fork, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Agent } from 'undici'
import { inspector } from './inspector.ts'
import type { CpuProfile } from './profile.ts'

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))
/** The flags and variables of `npm start`. */
const asStarted = {
  flags: ['--max-semi-space-size=8'],
  env: {
    MALLOC_TRIM_THRESHOLD_: '1048576',
    NODE_COMPILE_CACHE: at('../node_modules/.cache/compiled'),
  },
}

export const key = 'bench-key'

async function helper(
  path: string,
  ...args: string[]
): Promise<{ port: number; stop: () => void }> {
  const child = fork(at(path), args)
  const port = await new Promise<unknown>((resolve) => child.once('message', resolve))
  return { port: Number(port), stop: () => child.kill() }
}

export async function stubModel(): Promise<{ url: string; stop: () => void }> {
  const { port, stop } = await helper('./stub-model.ts')
  return { url: `http://127.0.0.1:${port}`, stop }
}

/** The echo server runs in its own process, as a measured server does. */
export const echoServer = () => helper('./echo.ts')

export type Upstream = Awaited<ReturnType<typeof upstreamProcess>>

/** Starts the upstream as `localhost`, with a new certificate in the folder. */
export async function upstreamProcess(folder: string) {
  const [keyFile, certificate] = [join(folder, 'upstream.key'), join(folder, 'upstream.crt')]
  const made = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  const name = ['-days', '2', '-subj', '/CN=bench', '-addext', 'subjectAltName=DNS:localhost']
  const files = ['-keyout', keyFile, '-out', certificate]
  execFileSync('openssl', [...made, ...name, ...files], { stdio: 'ignore' })
  const { port, stop } = await helper('./upstream.ts', keyFile, certificate)
  const ca = readFileSync(certificate, 'utf8')
  const agent = new Agent({ connect: { ca } })
  const url = `https://localhost:${port}`
  return {
    port,
    url,
    ca,
    certificate,
    /** Returns the number of renewals by grant, and the times in ms that callers waited for the silent server. */
    async seen() {
      const { body } = await agent.request({ origin: url, path: '/seen', method: 'GET' })
      return (await body.json()) as { renewed: Record<string, number>; patience: number[] }
    },
    async stop() {
      await agent.close()
      stop()
    },
  }
}

export type Server = {
  base: string
  startedMs: number
  child: ChildProcess
  rss(): number
  stop(): Promise<void>
}

/** Gets the profile of each server when the server stops. A profile begins with the server's first answer. */
let onProfile: ((profile: CpuProfile) => void) | undefined
export const profileServers = (report: (profile: CpuProfile) => void): void =>
  void (onProfile = report)

async function startProfiling(port: number | undefined) {
  if (port === undefined) return undefined
  const seen = await inspector(port)
  await seen.startProfile()
  return async (): Promise<CpuProfile> => {
    const profile = await seen.stopProfile()
    seen.close()
    return profile
  }
}

/** Starts the server as an operator does, on a free port. `startedMs`: time until `/healthz` answers. */
export async function startServer(
  dataDir: string,
  env: Record<string, string> = {},
  flags: readonly string[] = [],
): Promise<Server> {
  const port = await freePort()
  const base = `http://127.0.0.1:${port}`
  const inspected = onProfile ? await freePort() : undefined
  const inspect =
    inspected === undefined
      ? []
      : [`--inspect=127.0.0.1:${inspected}`, '--inspect-publish-uid=http']
  const began = performance.now()
  const child = spawn(
    process.execPath,
    [...asStarted.flags, ...inspect, ...flags, at('../packages/server/src/main.ts')],
    {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: {
        ...asStarted.env,
        PATH: process.env['PATH'],
        HOME: process.env['HOME'],
        PORT: String(port),
        DATA_DIR: dataDir,
        SANDBOX_DIR: join(dataDir, 'sandboxes'),
        API_KEY: key,
        PLATFORM_ROOT_SECRET: 'a root secret for the benchmark',
        EGRESS_ALLOW_PRIVATE: '127.0.0.0/8',
        EGRESS_TENANT_TARGETS: '127.0.0.0/8:*',
        STEWARD_LOG_LEVEL: 'error',
        STEWARD_OFFLINE_THINK_MS: '0',
        ...env,
      },
    },
  )
  while (!(await answers(base))) {
    if (child.exitCode !== null) throw new Error('the server did not start; its message is above')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  const startedMs = performance.now() - began
  const stopProfiling = await startProfiling(inspected)
  return {
    base,
    startedMs,
    child,
    rss: () =>
      Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) * 1024,
    async stop() {
      const profile = await stopProfiling?.()
      await new Promise((resolve) => {
        child.once('exit', resolve)
        child.kill('SIGTERM')
      })
      if (profile) onProfile?.(profile)
    },
  }
}

const answers = (base: string) =>
  fetch(`${base}/healthz`).then(
    (response) => response.ok,
    () => false,
  )

export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}

/** A folder that the users of sandboxes can reach. `remove` deletes the folder. */
export function temporaryFolder(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'steward-bench-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}
