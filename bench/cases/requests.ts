/** Plain requests: agents and sessions, pages, appends. */
import { watch } from '../client.ts'
import type { Figure } from '../figures.ts'
import { median } from '../figures.ts'
import type { BenchSetup } from './setup.ts'
import { message, newSession } from './setup.ts'

const runs = 3
const seconds = 2

async function medianRate(
  setup: BenchSetup,
  concurrent: number,
  call: () => Promise<unknown>,
): Promise<number> {
  await setup.call.rate(concurrent, 0.5, call)
  const rates: number[] = []
  for (let run = 0; run < runs; run++) rates.push(await setup.call.rate(concurrent, seconds, call))
  return median(rates)
}

export async function* requests(setup: BenchSetup): AsyncGenerator<Figure> {
  const { call, agents } = setup
  const agent = {
    name: 'a',
    model: 'one',
    system: 'You are brief.',
    tools: [{ type: 'agent_toolset_20260401' }],
  }
  const made = await medianRate(setup, 16, () => call.post('/v1/agents', agent))
  yield { what: 'POST agents, 16 clients', value: made, unit: '/s', goal: 4_000, rate: true }
  const got = await medianRate(setup, 16, () => call.get(`/v1/agents/${agents['one']}`))
  yield { what: 'GET agent, 16 clients', value: got, unit: '/s', goal: 8_000, rate: true }
  const begun = await medianRate(setup, 16, () => newSession(setup, 'one'))
  yield { what: 'POST sessions, 16 clients', value: begun, unit: '/s', goal: 2_000, rate: true }
}

/**
 * Creates a session that waits for its client. The session accepts messages and does not run them, so only appends are
 * measured.
 */
async function waitingSession(setup: BenchSetup): Promise<{ session: string; call: string }> {
  const session = await newSession(setup, 'custom')
  const stream = await watch(setup.base, session)
  const asked = stream.until('agent.custom_tool_use')
  const idle = stream.until('session.status_idle')
  await setup.call.post(`/v1/sessions/${session}/events`, message())
  const { data } = await asked
  await idle
  await stream.close()
  return { session, call: String(data['id']) }
}

/** A call appends twenty messages, and 10,000 messages may wait in a session. */
const callsOfSession = 480

export async function* appends(setup: BenchSetup): AsyncGenerator<Figure> {
  const { call } = setup
  const twenty = { events: Array.from({ length: 20 }, () => message('one of twenty').events[0]) }
  const sessions = await Promise.all(Array.from({ length: 64 }, () => waitingSession(setup)))
  const append = (index: number) =>
    call.post(`/v1/sessions/${sessions[index % sessions.length]?.session}/events`, twenty)
  let calls = 0
  const one = await medianRate(setup, 4, () => append(Math.floor(calls++ / callsOfSession)))
  yield {
    what: 'appends, 20 a call, one session',
    value: one * 20,
    unit: 'events/s',
    goal: 8_000,
    rate: true,
  }
  const others = await Promise.all(Array.from({ length: 128 }, () => waitingSession(setup)))
  sessions.splice(0, 64, ...others)
  calls = 0
  const many = await medianRate(setup, 16, () => {
    const group = Math.floor(calls / (16 * callsOfSession))
    return append(16 * group + (calls++ % 16))
  })
  yield {
    what: 'appends, 20 a call, 16 sessions',
    value: many * 20,
    unit: 'events/s',
    goal: 20_000,
    rate: true,
  }
}

export async function* pages(setup: BenchSetup): AsyncGenerator<Figure> {
  const { call } = setup
  const { session, call: asked } = await waitingSession(setup)
  for (let n = 0; n < 500; n++) {
    await call.post(`/v1/sessions/${session}/events`, {
      events: Array.from({ length: 20 }, (_, i) => message(`message ${n * 20 + i}`).events[0]),
    })
  }
  const stream = await watch(setup.base, session)
  const started = stream.until('session.status_run_started')
  await call.post(`/v1/sessions/${session}/events`, {
    events: [
      {
        type: 'user.custom_tool_result',
        custom_tool_use_id: asked,
        content: [{ type: 'text', text: 'yes' }],
      },
    ],
  })
  await started
  await stream.close()
  const times: number[] = []
  for (let n = 0; n < 200; n++) {
    const began = performance.now()
    await call.get(`/v1/sessions/${session}/events?limit=100&after_seq=${5_000 + n * 10}`)
    times.push(performance.now() - began)
  }
  yield { what: 'page of 100 from 10,000 events', value: median(times), unit: 'ms', goal: 1 }
}
