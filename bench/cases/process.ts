/** The process itself: its start, its memory, idle streams, and the cost of a kill. */
import { closeSync, fdatasyncSync, openSync, unlinkSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { client, watch } from '../client.ts'
import type { Figure } from '../figures.ts'
import { median } from '../figures.ts'
import { key, startServer } from '../processes.ts'
import type { BenchSetup } from './setup.ts'
import { message, newSession } from './setup.ts'

export function diskSync(folder: string): Figure {
  const path = join(folder, 'sync-probe')
  const file = openSync(path, 'w')
  const times: number[] = []
  for (let n = 0; n < 200; n++) {
    writeSync(file, Buffer.alloc(4096), 0, 4096, n * 4096)
    const began = performance.now()
    fdatasyncSync(file)
    times.push(performance.now() - began)
  }
  closeSync(file)
  unlinkSync(path)
  return { what: 'this disk: write 4 KiB and sync', value: median(times), unit: 'ms' }
}

export async function* starts(
  dataDir: string,
  env: Record<string, string>,
): AsyncGenerator<Figure> {
  const times: number[] = []
  const sizes: number[] = []
  for (let run = 0; run < 6; run++) {
    const server = await startServer(dataDir, env)
    // The first run fills the compile cache.
    if (run > 0) {
      times.push(server.startedMs / 1000)
      await new Promise((resolve) => setTimeout(resolve, 500))
      sizes.push(server.rss() / 1e6)
    }
    await server.stop()
  }
  yield { what: 'start until /healthz answers', value: median(times), unit: 's', goal: 0.6 }
  yield {
    what: 'resident memory before the first turn',
    value: median(sizes),
    unit: 'MB',
    goal: 150,
  }
}

/** Measures idle streams, each kind on a separate server that has already done some work and is warm. */
export async function* idleStreams(
  dataDir: string,
  env: Record<string, string>,
  setUp: (base: string) => Promise<BenchSetup>,
): AsyncGenerator<Figure> {
  const count = 2_000
  const each = async (pathOf: (session: string) => string): Promise<number> => {
    const server = await startServer(dataDir, env)
    const setup = await setUp(server.base)
    const session = await newSession(setup, 'one')
    for (let n = 0; n < 3_000; n++) await setup.call.get(`/v1/sessions/${session}`)
    const stop = new AbortController()
    const open = () =>
      fetch(setup.base + pathOf(session), { headers: { 'x-api-key': key }, signal: stop.signal })
    const openAll = async (many: number) => {
      for (let n = 0; n < many; n += 50) await Promise.all(Array.from({ length: 50 }, open))
      await new Promise((resolve) => setTimeout(resolve, 1_000))
    }
    // The first streams make V8 enlarge its young generation once, by as much as all the later streams take.
    await openAll(1_000)
    const before = server.rss()
    await openAll(count)
    const bytes = (server.rss() - before) / count
    stop.abort()
    await setup.call.close()
    await server.stop()
    return bytes / 1024
  }
  const ofSession = await each((session) => `/v1/sessions/${session}/events/stream`)
  yield { what: '2,000 more idle streams, each', value: ofSession, unit: 'KB', goal: 30 }
  const ofWorkspace = await each(() => '/v1/ext/stream')
  yield {
    what: '2,000 more idle streams of a workspace, each',
    value: ofWorkspace,
    unit: 'KB',
    goal: 12,
  }
}

/**
 * Kills the server during a turn. The figure is the time from the new start until the log says that the turn goes on.
 */
export async function* kills(
  dataDir: string,
  env: Record<string, string>,
  setup: (base: string) => Promise<BenchSetup>,
): AsyncGenerator<Figure> {
  const times: number[] = []
  let lost = 0
  for (let run = 0; run < 3; run++) {
    const first = await startServer(dataDir, env)
    const before = await setup(first.base)
    const session = await newSession(before, 'hang')
    const stream = await watch(first.base, session)
    const chunk = stream.until('agent.message_chunk')
    await before.call.post(`/v1/sessions/${session}/events`, message())
    await chunk
    const acknowledged = await kept(before.call, session)
    const gone = new Promise((resolve) => first.child.once('exit', resolve))
    first.child.kill('SIGKILL')
    await gone
    await stream.close()
    await before.call.close()
    const began = performance.now()
    const second = await startServer(dataDir, env)
    const call = client(second.base)
    while (!(await kept(call, session)).some(({ type }) => type === 'session.warning')) {
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    times.push((performance.now() - began) / 1000)
    const after = new Set((await kept(call, session)).map(({ id }) => id))
    lost += acknowledged.filter(({ id }) => !after.has(id)).length
    await call.close()
    await second.stop()
  }
  yield {
    what: 'kill -9 in mid turn: start until the turn goes on',
    value: median(times),
    unit: 's',
    goal: 1,
  }
  yield { what: 'acknowledged events lost by it', value: lost, unit: 'events', goal: 0 }
}

const kept = async (call: BenchSetup['call'], session: string) =>
  (await call.get(`/v1/sessions/${session}/log`)) as { id: string; type: string }[]
