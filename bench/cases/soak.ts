/**
 * Hours of a server's life: sessions are created, have turns with and without a sandbox, are read and streamed, and are
 * deleted, all the time. The memory of the server must not grow. The case lasts an hour by default and runs only when
 * it is named.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { watch } from '../client.ts'
import type { Figure } from '../figures.ts'
import type { Memory } from '../inspector.ts'
import { inspector } from '../inspector.ts'
import { freePort, startServer } from '../processes.ts'
import type { BenchSetup } from './setup.ts'
import { message, newSession } from './setup.ts'

/** Sessions that live at the same time. */
const concurrent = 4
/** Pause between two sessions of a worker, so that the server is busy and not overloaded. */
const breathMs = 100
/** The server loads the libraries of its first turns 5 s after its start. */
const startMs = 10_000
/** The rest after the last request. Memory that the server still holds afterwards is never released. */
const restMs = 60_000
/** Every tenth session runs a command. */
const models = ['bash', ...Array.from({ length: 9 }, () => 'one')]

async function life(setup: BenchSetup, model: string): Promise<void> {
  const { call } = setup
  const session = await newSession(setup, model)
  const stream = await watch(setup.base, session)
  for (let turn = 0; turn < 3; turn++) {
    const idle = stream.until('session.status_idle')
    await call.post(`/v1/sessions/${session}/events`, message())
    await idle
  }
  await call.get(`/v1/sessions/${session}/events?limit=100`)
  await call.get('/v1/sessions?limit=20')
  await stream.close()
  await call.remove(`/v1/sessions/${session}`)
}

const megabytes = (bytes: number) => String(Math.round(bytes / 1e6)).padStart(8)

function line(minutes: string, sessions: number, { rss, heapUsed, heapTotal, external }: Memory) {
  const sizes = [rss, heapUsed, heapTotal, external].map(megabytes).join('')
  console.log(`${minutes.padEnd(22)}${String(sessions).padStart(9)}${sizes}`)
}

export async function* soak(
  dataDir: string,
  env: Record<string, string>,
  { setUp, minutes }: { setUp: (base: string) => Promise<BenchSetup>; minutes: number },
): AsyncGenerator<Figure> {
  const port = await freePort()
  const server = await startServer(dataDir, env, [`--inspect=127.0.0.1:${port}`])
  const seen = await inspector(port)
  const setup = await setUp(server.base)
  console.log(`${'minutes'.padEnd(22)} sessions     rss    heap   total  extern   (MB)`)
  await pause(startMs)
  const start = await seen.memory()
  line('before the first turn', 0, start)
  const began = performance.now()
  const end = began + minutes * 60_000
  let lives = 0
  const worker = async () => {
    while (performance.now() < end) {
      await life(setup, models[lives++ % models.length] ?? 'one')
      await pause(breathMs)
    }
  }
  const working = Promise.all(Array.from({ length: concurrent }, worker))
  const sizes: number[] = []
  for (let n = 1; n <= minutes; n++) {
    await pause(Math.max(0, began + n * 60_000 - performance.now()))
    const memory = await seen.memory()
    sizes.push(memory.rss)
    line(`${n}`, lives, memory)
  }
  await working
  await pause(restMs)
  const rest = await seen.memory()
  line('a minute at rest', lives, rest)
  await seen.collect()
  await pause(2_000)
  const collected = await seen.memory()
  line('after a collection', lives, collected)
  seen.close()
  await setup.call.close()
  await server.stop()
  const half = sizes.slice(Math.floor(sizes.length / 2))
  const growth = Math.max(...half) - (half[0] ?? 0)
  yield { what: `soak of ${minutes} min: at rest, resident`, value: rest.rss / 1e6, unit: 'MB' }
  yield { what: 'soak: at rest against start', value: rest.rss / start.rss, unit: '×', goal: 1.2 }
  yield { what: 'soak: growth in the second half', value: growth / 1e6, unit: 'MB' }
  yield { what: 'soak: heap after a collection', value: collected.heapUsed / 1e6, unit: 'MB' }
}
