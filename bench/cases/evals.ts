/** Evals: trials with answers of one token, and the replay of a session from its record. */
import { setTimeout as pause } from 'node:timers/promises'
import { watch } from '../client.ts'
import type { Figure } from '../figures.ts'
import { median } from '../figures.ts'
import type { BenchSetup } from './setup.ts'
import { message, newSession } from './setup.ts'

const runs = 3
/** Turns with an answer of one token. A turn has eight events. */
const turns = 125

export async function* evals(setup: BenchSetup): AsyncGenerator<Figure> {
  const took: number[] = []
  for (let run = 0; run < runs; run++) took.push(await secondsOfRun(setup))
  yield { what: '200 trials of one token, 50 at once', value: median(took), unit: 's', goal: 2 }
  const session = await longSession(setup)
  const replayed: number[] = []
  for (let run = 0; run < runs; run++) {
    const began = performance.now()
    await setup.call.post('/v1/ext/replays', { session_id: session })
    replayed.push((performance.now() - began) / 1000)
  }
  const what = 'replay of a session of 1,000 events'
  yield { what, value: median(replayed), unit: 's', goal: 1 }
}

async function secondsOfRun({ call, environment, agents }: BenchSetup): Promise<number> {
  const began = performance.now()
  const id = await call.make('/v1/ext/evals', {
    agent: agents['one'] ?? '',
    environment_id: environment,
    samples: Array.from({ length: 10 }, () => ({ input: 'begin turn' })),
    graders: [{ name: 'says something', type: 'text', op: 'regex', value: '.' }],
    trials: 20,
    max_concurrency: 50,
  })
  for (;;) {
    const run = (await call.get(`/v1/ext/evals/${id}`)) as { status: string }
    if (run.status === 'completed') return (performance.now() - began) / 1000
    if (run.status === 'failed') throw new Error(`no trial of run ${id} was scored`)
    await pause(10)
  }
}

async function longSession(setup: BenchSetup): Promise<string> {
  const session = await newSession(setup, 'one')
  const stream = await watch(setup.base, session)
  for (let turn = 0; turn < turns; turn++) {
    const rested = stream.until('session.status_idle')
    await setup.call.post(`/v1/sessions/${session}/events`, message())
    await rested
  }
  await stream.close()
  return session
}
