/** `/openai/v1` beside `/v1`: arrival times of the same words on both, and lists of a long session. */
import { watch } from '../client.ts'
import type { Figure } from '../figures.ts'
import { median } from '../figures.ts'
import type { BenchSetup } from './setup.ts'
import { message, newSession } from './setup.ts'

const surface = '/openai/v1/agents/sessions'
const turns = { warm: 50, measured: 300 }
const pages = { warm: 4, measured: 16 }

async function* firstWords(setup: BenchSetup): AsyncGenerator<Figure> {
  const session = await newSession(setup, 'one')
  const ours = await watch(setup.base, session)
  const theirs = await watch(setup.base, session, `${surface}/${session}/events`)
  const later: number[] = []
  for (let n = 0; n < turns.warm + turns.measured; n++) {
    const chunk = ours.until('agent.message_chunk')
    const delta = theirs.until('agent.session.turn.output_text.delta')
    const rests = [ours.until('session.status_idle'), theirs.until('agent.session.idle')]
    await setup.call.post(`/v1/sessions/${session}/events`, message())
    const apart = (await delta).at - (await chunk).at
    await Promise.all(rests)
    if (n >= turns.warm) later.push(apart)
  }
  await Promise.all([ours.close(), theirs.close()])
  yield {
    what: '/openai/v1: first delta behind the first chunk on /v1',
    value: median(later),
    unit: 'ms',
    goal: 1,
  }
}

/** A session of short turns, whose log has 10,000 events. */
async function longSession(setup: BenchSetup): Promise<string> {
  const session = await newSession(setup, 'one')
  const stream = await watch(setup.base, session)
  for (let seq = 0; seq < 10_000;) {
    const idle = stream.until('session.status_idle')
    await setup.call.post(`/v1/sessions/${session}/events`, message())
    seq = Number((await idle).data['seq'])
  }
  await stream.close()
  return session
}

async function* listOfItems(setup: BenchSetup): AsyncGenerator<Figure> {
  const session = await longSession(setup)
  const times: number[] = []
  let after = ''
  for (let n = 0; n < pages.warm + pages.measured; n++) {
    const began = performance.now()
    const page = (await setup.call.get(
      `${surface}/${session}/items?limit=100${after && `&after=${after}`}`,
    )) as { data: unknown[]; last_id: string }
    if (n >= pages.warm) times.push(performance.now() - began)
    if (page.data.length !== 100) throw new Error(`a page of ${page.data.length} items`)
    after = page.last_id
  }
  yield {
    what: '/openai/v1: list of 100 items from 10,000 events',
    value: median(times),
    unit: 'ms',
    goal: 3,
  }
}

export async function* openaiSurface(setup: BenchSetup): AsyncGenerator<Figure> {
  yield* firstWords(setup)
  yield* listOfItems(setup)
}
