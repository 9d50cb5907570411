/** Other work of a server whose disk is slow and busy with writes. */
import { syncLayer } from '@steward/server/ground/database/sync-layer-fixture.ts'
import { watch } from '../client.ts'
import type { Figure } from '../figures.ts'
import { startServer } from '../processes.ts'
import type { BenchSetup } from './setup.ts'
import { newSession } from './setup.ts'
import { idleAfterMessage } from './turns.ts'

const syncMs = 4
const sessions = 50
const warmMs = 2_000
const measuredMs = 5_000
const betweenMs = 10

export async function* slowDisk(
  dataDir: string,
  env: Record<string, string>,
  setUp: (base: string) => Promise<BenchSetup>,
): AsyncGenerator<Figure> {
  const layer = await syncLayer(dataDir, { delayMs: syncMs })
  const server = await startServer(dataDir, { ...env, ...layer })
  const setup = await setUp(server.base)
  const ids = await Promise.all(Array.from({ length: sessions }, () => newSession(setup, 'slow')))
  const streams = await Promise.all(ids.map((id) => watch(server.base, id)))
  const from = performance.now() + warmMs
  const until = from + measuredMs
  let turns = 0
  const loops = streams.map(async (stream, index) => {
    while (performance.now() < until) {
      const { at } = await idleAfterMessage(setup, ids[index] ?? '', stream)
      if (at >= from && at < until) turns++
    }
  })
  const times: number[] = []
  while (performance.now() < until) {
    const began = performance.now()
    await setup.call.get('/healthz')
    if (began >= from) times.push(performance.now() - began)
    await new Promise((resolve) => setTimeout(resolve, betweenMs))
  }
  await Promise.all(loops)
  await Promise.all(streams.map((stream) => stream.close()))
  await server.stop()
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN
  const where = `${syncMs} ms a sync, ${sessions} sessions`
  yield { what: `${where}: /healthz`, value: at(0.5), unit: 'ms' }
  yield { what: `${where}: /healthz, 99 of 100`, value: at(0.99), unit: 'ms', goal: 20 }
  const value = turns / (measuredMs / 1_000)
  yield { what: `${where}: turns`, value, unit: '/s', rate: true }
}
