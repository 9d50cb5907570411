/** Forks of a session with a long log and a large working folder. */
import { watch } from '../client.ts'
import type { Figure } from '../figures.ts'
import { median } from '../figures.ts'
import { startServer } from '../processes.ts'
import type { BenchSetup } from './setup.ts'
import { message, newSession } from './setup.ts'

const runs = 7
/** Messages in one request. */
const messages = 1_000

async function turn(setup: BenchSetup, session: string, body: object): Promise<void> {
  const stream = await watch(setup.base, session)
  const rests = stream.until('session.status_idle')
  await setup.call.post(`/v1/sessions/${session}/events`, body)
  await rests
  await stream.close()
}

export async function* forks(
  folder: string,
  env: Record<string, string>,
  setUp: (base: string) => Promise<BenchSetup>,
): AsyncGenerator<Figure> {
  const server = await startServer(folder, { ...env, CHECKPOINTS: 'idle' })
  const setup = await setUp(server.base)
  const session = await newSession(setup, 'fill')
  await turn(setup, session, message())
  for (let n = 0; n < 10; n++)
    await turn(setup, session, {
      events: Array.from({ length: messages }, () => message('one of many').events[0]),
    })
  const { data } = (await setup.call.get(`/v1/sessions/${session}/events?order=desc&limit=1`)) as {
    data: { seq: number }[]
  }
  const [last] = data
  if (!last || last.seq < 10_000) throw new Error(`the log has ${last?.seq} events`)
  const times: number[] = []
  for (let run = 0; run < runs; run++) {
    const began = performance.now()
    await setup.call.post(`/v1/ext/sessions/${session}/fork`, {})
    times.push((performance.now() - began) / 1000)
  }
  await setup.call.close()
  await server.stop()
  const what = 'fork of a session with 10,000 events and a workspace of 50 MB'
  yield { what, value: median(times), unit: 's', goal: 0.5 }
}
