/**
 * Work of environment workers: the time to a claim, the rate of a draining queue, the cost of heartbeats and idle
 * pollers.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { Pool } from 'undici'
import type { Figure } from '../figures.ts'
import { median } from '../figures.ts'
import { startServer } from '../processes.ts'
import type { BenchSetup } from './setup.ts'

type Polled = { id: string; secret: string } | null
type Workers = {
  setup: BenchSetup
  environment: string
  key: string
  create(): Promise<string>
  poll(query: string, worker?: string): Promise<Polled>
  beat(work: string, token: string, expected: string): Promise<string>
  close(): Promise<void>
}

const ourWorker = fileURLToPath(import.meta.resolve('@steward/worker/main.ts'))
const seconds = 8
const idlePollers = 2_000
const nextPause = () => new Promise((resolve) => setTimeout(resolve, 1_000 + Math.random() * 2_000))

/** A self-hosted environment with its key, and workers with this number of connections. */
async function workersOf(setup: BenchSetup, connections: number): Promise<Workers> {
  const { call, base, agents } = setup
  const named = { name: `pool-${Date.now()}`, config: { type: 'self_hosted' } }
  const environment = await call.make('/v1/environments', named)
  const keyed = { name: 'worker', environment_id: environment }
  const { key } = (await call.post('/v1/ext/api_keys', keyed)) as { key: string }
  const pool = new Pool(base, { connections, pipelining: 1 })
  const at = `/v1/environments/${environment}/work`
  async function ask(method: 'GET' | 'POST', path: string, token: string, worker?: string) {
    const named = worker === undefined ? {} : { 'anthropic-worker-id': worker }
    const headers = { authorization: `Bearer ${token}`, ...named }
    const { statusCode, body } = await pool.request({ method, path, headers })
    const text = await body.text()
    if (statusCode !== 200) throw new Error(`${method} ${path}: ${statusCode} ${text}`)
    return JSON.parse(text) as unknown
  }
  return {
    setup,
    environment,
    key,
    create: () =>
      call.make('/v1/sessions', { agent: agents['one'] ?? '', environment_id: environment }),
    poll: async (query, worker) => (await ask('GET', `${at}/poll?${query}`, key, worker)) as Polled,
    async beat(work, token, expected) {
      const query = `expected_last_heartbeat=${encodeURIComponent(expected)}`
      const beaten = await ask('POST', `${at}/${work}/heartbeat?${query}`, token)
      return (beaten as { last_heartbeat: string }).last_heartbeat
    },
    close: () => pool.destroy(),
  }
}

export async function* work(
  dataDir: string,
  env: Record<string, string>,
  setUp: (base: string) => Promise<BenchSetup>,
): AsyncGenerator<Figure> {
  const server = await startServer(dataDir, env)
  const setup = await setUp(server.base)
  yield await claimed(setup)
  yield await claimedByOurs(setup)
  yield* drained(setup)
  yield await beaten(setup)
  yield* idle(setup, Number(server.child.pid), () => server.rss())
  await setup.call.close()
  await server.stop()
}

/** The time from the request that creates the session to the claim. The poll already waits at the server. */
async function claimed(setup: BenchSetup): Promise<Figure> {
  const workers = await workersOf(setup, 4)
  const times: number[] = []
  for (let run = 0; run < 60; run++) {
    const waiting = workers.poll('block_ms=999', 'one')
    await new Promise((resolve) => setTimeout(resolve, 30))
    const began = performance.now()
    await workers.create()
    const item = await waiting
    if (!item) throw new Error('a poll that was waiting was not woken')
    times.push(performance.now() - began)
  }
  await workers.close()
  const what = 'session created until claimed by a poll that waits'
  return { what, value: median(times.slice(10)), unit: 'ms', goal: 20 }
}

/** The same time with our worker, whose harness process ends at once, until the worker logs that end. */
async function claimedByOurs(setup: BenchSetup): Promise<Figure> {
  const workers = await workersOf(setup, 1)
  const dir = mkdtempSync(join(tmpdir(), 'steward-bench-worker-'))
  const child = spawn(process.execPath, [ourWorker], {
    env: {
      ...{ PATH: process.env['PATH'], WORKER_DIR: dir, WORKER_BASE_URL: setup.base },
      ...{ WORKER_ENVIRONMENT_ID: workers.environment, WORKER_ENVIRONMENT_KEY: workers.key },
      ...{ WORKER_POLL_SECONDS: '0', WORKER_HARNESS: '["true"]', SANDBOX_PROVIDER: 'local' },
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const lines = createInterface(child.stderr)
  const said = (what: string) =>
    new Promise<void>((resolve) => {
      const look = (line: string) => {
        if (!line.includes(what)) return
        lines.off('line', look)
        resolve()
      }
      lines.on('line', look)
    })
  await said('"working"')
  const times: number[] = []
  for (let run = 0; run < 40; run++) {
    await new Promise((resolve) => setTimeout(resolve, 150))
    const heard = said('"claimed"')
    const began = performance.now()
    await workers.create()
    await heard
    times.push(performance.now() - began)
  }
  child.kill()
  await once(child, 'exit')
  rmSync(dir, { recursive: true, force: true })
  await workers.close()
  return { what: 'the same by our worker', value: median(times.slice(10)), unit: 'ms', goal: 20 }
}

async function* drained(setup: BenchSetup): AsyncGenerator<Figure> {
  const workers = await workersOf(setup, 8)
  const count = 1_000
  for (let n = 0; n < count; n += 20)
    await Promise.all(Array.from({ length: 20 }, () => workers.create()))
  const claims: string[] = []
  const began = performance.now()
  let last = began
  const drain = async (_: unknown, n: number) => {
    for (;;) {
      const item = await workers.poll('reclaim_older_than_ms=600000', `worker-${n}`)
      if (!item) return
      claims.push(item.id)
      last = performance.now()
    }
  }
  await Promise.all(Array.from({ length: 8 }, drain))
  await workers.close()
  const rate = (claims.length / (last - began)) * 1000
  yield { what: '1,000 items, 8 pollers: claims', value: rate, unit: '/s', goal: 500, rate: true }
  const twice = claims.length - new Set(claims).size
  yield { what: '1,000 items, 8 pollers: claimed twice', value: twice, unit: '', goal: 0 }
}

async function beaten(setup: BenchSetup): Promise<Figure> {
  const workers = await workersOf(setup, 1)
  await workers.create()
  const item = await workers.poll('block_ms=999')
  if (!item) throw new Error('there is nothing to beat for')
  const { sessions_token } = JSON.parse(Buffer.from(item.secret, 'base64url').toString()) as {
    sessions_token: string
  }
  const times: number[] = []
  let last = 'NO_HEARTBEAT'
  for (let n = 0; n < 300; n++) {
    const began = performance.now()
    last = await workers.beat(item.id, sessions_token, last)
    times.push(performance.now() - began)
  }
  await workers.close()
  return { what: 'heartbeat', value: median(times.slice(50)), unit: 'ms', goal: 2 }
}

/**
 * Idle pollers with the rhythm of the official worker: each waits 999 ms at the server, then one to three seconds away.
 */
async function* idle(setup: BenchSetup, pid: number, rss: () => number): AsyncGenerator<Figure> {
  const workers = await workersOf(setup, idlePollers)
  const before = rss()
  const alone = await asked(setup)
  let isOver = false
  let answered = 0
  const pollers = Array.from({ length: idlePollers }, async (_, n) => {
    await nextPause()
    while (!isOver) {
      await workers.poll('block_ms=999', `worker-${n}`)
      answered++
      await nextPause()
    }
  })
  await new Promise((resolve) => setTimeout(resolve, 5_000))
  const [began, polls] = [cpuSeconds(pid), answered]
  await new Promise((resolve) => setTimeout(resolve, seconds * 1_000))
  const cpu = ((cpuSeconds(pid) - began) / seconds) * 100
  const rate = (answered - polls) / seconds
  const grown = (rss() - before) / 1e6
  const beside = await asked(setup)
  isOver = true
  await Promise.all(pollers)
  await workers.close()
  const what = '2,000 idle pollers'
  yield { what: `${what}: of one core`, value: cpu, unit: '%' }
  yield { what: `${what}: polls answered`, value: rate, unit: '/s' }
  yield { what: `${what}: memory`, value: grown, unit: 'MB' }
  yield { what: 'an agent read, without them', value: alone, unit: 'ms' }
  yield { what: 'an agent read, beside them', value: beside, unit: 'ms' }
}

/** The time that a read by another caller takes. */
async function asked({ call, agents }: BenchSetup): Promise<number> {
  const times: number[] = []
  for (let n = 0; n < 200; n++) {
    const began = performance.now()
    await call.get(`/v1/agents/${agents['one'] ?? ''}`)
    times.push(performance.now() - began)
  }
  return median(times)
}

/** CPU seconds of the process in user and system mode. Linux counts in hundredths of a second. */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / 100
}
