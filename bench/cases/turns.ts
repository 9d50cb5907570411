/** Turns: the time that a person waits, with and without tools, alone and beside many others. */
import { watch } from '../client.ts'
import type { Figure } from '../figures.ts'
import { median } from '../figures.ts'
import type { BenchSetup } from './setup.ts'
import { message, newSession } from './setup.ts'

type Watching = Awaited<ReturnType<typeof watch>>

async function turn(setup: BenchSetup, session: string, stream: Watching) {
  // A stream that gets the whole message first gets none of its pieces.
  const first = stream.until('agent.message_chunk', 'agent.message')
  const idle = stream.until('session.status_idle')
  const began = performance.now()
  await setup.call.post(`/v1/sessions/${session}/events`, message())
  return { first: (await first).at - began, idle: (await idle).at - began }
}

export async function turnsOf(setup: BenchSetup, session: string, count: number) {
  const stream = await watch(setup.base, session)
  const times = []
  for (let n = 0; n < count; n++) times.push(await turn(setup, session, stream))
  await stream.close()
  return times
}

export async function* shortTurns(setup: BenchSetup): AsyncGenerator<Figure> {
  const firsts: number[] = []
  const idles: number[] = []
  for (let n = 0; n < 12; n++) {
    const times = await turnsOf(setup, await newSession(setup, 'one'), 20)
    // The first dozen turns warm the server up.
    if (n < 2) continue
    firsts.push(...times.map(({ first }) => first))
    idles.push(...times.map(({ idle }) => idle))
  }
  yield {
    what: 'one-token turn, post until first chunk',
    value: median(firsts),
    unit: 'ms',
    goal: 4,
  }
  yield { what: 'one-token turn, post until idle', value: median(idles), unit: 'ms', goal: 8 }
}

export async function* bashTurns(setup: BenchSetup): AsyncGenerator<Figure> {
  const session = await newSession(setup, 'bash')
  await turnsOf(setup, session, 3)
  const warm = await turnsOf(setup, session, 40)
  yield {
    what: 'echo hi in bash, sandbox warm',
    value: median(warm.map(({ idle }) => idle)),
    unit: 'ms',
    goal: 15,
  }
  const cold: number[] = []
  for (let n = 0; n < 20; n++) {
    const [time] = await turnsOf(setup, await newSession(setup, 'bash'), 1)
    if (time) cold.push(time.idle)
  }
  yield { what: 'echo hi in bash, sandbox cold', value: median(cold), unit: 'ms', goal: 50 }
}

const startsAtOnce = 100

/** The time until the last command has its result. The rest of the turns is not measured. */
export async function* sandboxBurst(setup: BenchSetup): AsyncGenerator<Figure> {
  const runs: number[] = []
  for (let run = 0; run < 3; run++) {
    const sessions = await Promise.all(
      Array.from({ length: startsAtOnce }, () => newSession(setup, 'bash')),
    )
    const streams = await Promise.all(sessions.map((session) => watch(setup.base, session)))
    const results = streams.map((stream) => stream.until('agent.tool_result'))
    const idles = streams.map((stream) => stream.until('session.status_idle'))
    const began = performance.now()
    await Promise.all(
      sessions.map((session) => setup.call.post(`/v1/sessions/${session}/events`, message())),
    )
    const ends = await Promise.all(results)
    runs.push((Math.max(...ends.map(({ at }) => at)) - began) / 1000)
    const failed = ends.find(({ data }) => data['is_error'] === true)
    if (failed) throw new Error(JSON.stringify(failed.data))
    await Promise.all(idles)
    await Promise.all(streams.map((stream) => stream.close()))
    await Promise.all(sessions.map((session) => setup.call.remove(`/v1/sessions/${session}`)))
  }
  yield {
    what: `${startsAtOnce} sandboxes started at once, all have run echo hi`,
    value: median(runs),
    unit: 's',
    goal: 2,
  }
}

export async function* manySessions(setup: BenchSetup): AsyncGenerator<Figure> {
  const runs: number[] = []
  for (let run = 0; run < 3; run++) {
    const sessions = await Promise.all(Array.from({ length: 200 }, () => newSession(setup, 'slow')))
    const streams = await Promise.all(sessions.map((session) => watch(setup.base, session)))
    const idles = streams.map((stream) => stream.until('session.status_idle'))
    const began = performance.now()
    await Promise.all(
      sessions.map((session) => setup.call.post(`/v1/sessions/${session}/events`, message())),
    )
    const ends = await Promise.all(idles)
    runs.push((Math.max(...ends.map(({ at }) => at)) - began) / 1000)
    await Promise.all(streams.map((stream) => stream.close()))
  }
  yield {
    what: '200 sessions at once, 50 tokens at 20 ms, all idle',
    value: median(runs),
    unit: 's',
    goal: 1.4,
  }
}

const loopMs = { warm: 2_000, measured: 6_000 }

/** Turns of existing sessions. Each session posts its next message when its turn has ended. */
export async function* closedLoop(setup: BenchSetup): AsyncGenerator<Figure> {
  const sessions = await Promise.all(Array.from({ length: 64 }, () => newSession(setup, 'one')))
  const streams = await Promise.all(sessions.map((session) => watch(setup.base, session)))
  const from = performance.now() + loopMs.warm
  const until = from + loopMs.measured
  let turns = 0
  async function loop(session: string, stream: Watching): Promise<void> {
    while (performance.now() < until) {
      const { at } = await idleAfterMessage(setup, session, stream)
      if (at >= from && at < until) turns++
    }
  }
  await Promise.all(streams.map((stream, index) => loop(sessions[index] ?? '', stream)))
  await Promise.all(streams.map((stream) => stream.close()))
  yield {
    what: 'turns in a closed loop, 64 sessions that exist',
    value: turns / (loopMs.measured / 1000),
    unit: '/s',
    goal: 600,
  }
}

/** Resolves when the turn has ended. */
export async function idleAfterMessage(setup: BenchSetup, session: string, stream: Watching) {
  const idle = stream.until('session.status_idle')
  await setup.call.post(`/v1/sessions/${session}/events`, message())
  return idle
}

export async function* longSession(setup: BenchSetup): AsyncGenerator<Figure> {
  const session = await newSession(setup, 'one')
  const times = await turnsOf(setup, session, 610)
  const around = (n: number) => median(times.slice(n - 10, n + 10).map(({ idle }) => idle))
  yield { what: 'turn 600 against turn 10', value: around(600) / around(12), unit: '×', goal: 1.5 }
  const forks: number[] = []
  for (let run = 0; run < 5; run++) {
    const began = performance.now()
    await setup.call.post(`/v1/ext/sessions/${session}/fork`, {})
    forks.push((performance.now() - began) / 1000)
  }
  yield { what: 'fork of a session with 610 turns', value: median(forks), unit: 's', goal: 0.5 }
}

/**
 * Turns of about 500 tokens in a context of 32,000: a summary every forty turns or so. Every turn should take as long
 * as the tenth.
 */
export async function* compactedSession(setup: BenchSetup): AsyncGenerator<Figure> {
  // These turns warm the server up, one summary included.
  await turnsOf(setup, await newSession(setup, 'words'), 80)
  const session = await newSession(setup, 'words')
  const times = await turnsOf(setup, session, 1_000)
  const idles = times.map(({ idle }) => idle)
  const path = `/v1/sessions/${session}/events?types[]=agent.thread_context_compacted&limit=1000`
  const { data } = (await setup.call.get(path)) as { data: unknown[] }
  const [tenth, last] = [median(idles.slice(2, 22)), median(idles.slice(-100))]
  yield { what: 'turns 901 to 1,000, with compaction', value: last, unit: 'ms' }
  yield { what: 'summaries in 1,000 turns', value: data.length, unit: '' }
  yield {
    what: 'turn 1,000 with compaction, against turn 10',
    value: last / tenth,
    unit: '×',
    goal: 1.5,
  }
}
