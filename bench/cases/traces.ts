/** The cost of traces for a turn: two servers run side by side, so that both meet the same load of the machine. */
import { join } from 'node:path'
import type { Figure } from '../figures.ts'
import { median } from '../figures.ts'
import { echoServer, startServer } from '../processes.ts'
import type { BenchSetup } from './setup.ts'
import { newSession } from './setup.ts'
import { turnsOf } from './turns.ts'

const rounds = 40
const warming = 4

export async function* tracedTurns(
  folder: string,
  env: Record<string, string>,
  setUp: (base: string) => Promise<BenchSetup>,
): AsyncGenerator<Figure> {
  const collector = await echoServer()
  const traced = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.port}` }
  async function sideOf(name: string, more: Record<string, string>) {
    const server = await startServer(join(folder, name), { ...env, ...more })
    return { server, setup: await setUp(server.base), idles: [] as number[] }
  }
  const [plain, other] = [await sideOf('plain', {}), await sideOf('traced', traced)]
  for (let round = 0; round < rounds; round++)
    for (const { setup, idles } of round % 2 === 0 ? [plain, other] : [other, plain]) {
      const times = await turnsOf(setup, await newSession(setup, 'one'), 20)
      if (round >= warming) idles.push(...times.map(({ idle }) => idle))
    }
  for (const { server, setup } of [plain, other]) {
    await setup.call.close()
    await server.stop()
  }
  collector.stop()
  yield {
    what: 'one-token turn until idle, traces to a collector against none',
    value: median(other.idles) / median(plain.idles),
    unit: '',
    goal: 1.05,
  }
}
