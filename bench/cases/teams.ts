/** A coordinator and its agents, over a model that answers at once. */
import { randomUUID } from 'node:crypto'
import { watch } from '../client.ts'
import type { Figure } from '../figures.ts'
import { median } from '../figures.ts'
import type { BenchSetup } from './setup.ts'
import { message } from './setup.ts'

async function newCoordinator({ call, environment, agents }: BenchSetup) {
  const multiagent = { type: 'coordinator', agents: [agents['one'], agents['slow']] }
  const agent = await call.make('/v1/agents', {
    name: 'boss',
    model: { id: 'team' },
    tools: [],
    multiagent,
  })
  return () => call.make('/v1/sessions', { agent, environment_id: environment })
}

/** Returns the time until the session rests in ms, and its begin in ms since the epoch. */
async function timed(setup: BenchSetup, session: string, text: string) {
  const stream = await watch(setup.base, session)
  const rests = stream.until('session.status_idle')
  const began = performance.now()
  await setup.call.post(`/v1/sessions/${session}/events`, message(`begin turn ${text}`))
  const ms = (await rests).at - began
  await stream.close()
  return { ms, began: performance.timeOrigin + began }
}

export async function* teams(setup: BenchSetup): AsyncGenerator<Figure> {
  const newSession = await newCoordinator(setup)
  const ids = Array.from({ length: 10 }, () => randomUUID())
  const begins: number[] = []
  for (let n = 0; n < 10; n++)
    begins.push((await timed(setup, await newSession(), `start 10 one ${ids[n]}`)).began)
  const streams: number[] = []
  for (let n = 0; n < 3; n++)
    streams.push(
      (await timed(setup, await newSession(), `start 25 slow ${randomUUID()}`)).ms / 1000,
    )
  const session = await newSession()
  await timed(setup, session, `start 1 one ${randomUUID()}`)
  for (let n = 0; n < 40; n++) await timed(setup, session, 'send')
  const response = await fetch(`${setup.modelUrl}/marks`)
  const marks = (await response.json()) as Record<string, number>
  const waits = begins.map((began, n) => (marks[`waited-${ids[n]}`] ?? Number.NaN) - began)
  yield {
    what: 'a coordinator starts 10 agents, until its wait has returned',
    value: median(waits.slice(2)),
    unit: 'ms',
    goal: 120,
  }
  yield {
    what: '25 agents stream 50 tokens at 20 ms, until all rest',
    value: median(streams),
    unit: 's',
    goal: 1.25,
  }
  const times = Object.entries(marks).flatMap(([name, sent]) => {
    const seen = marks[`mark-${name.slice('sent-'.length)}`]
    return name.startsWith('sent-') && seen !== undefined ? seen - sent : []
  })
  yield {
    what: 'a message between agents, sent until the receiver asks its model',
    value: median(times),
    unit: 'ms',
    goal: 6,
  }
}
