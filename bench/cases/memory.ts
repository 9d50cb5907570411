/** Memory stores in sandboxes, on SQLite: the cost of a call that changes one file, and the added time of a start. */
import { databases } from '@steward/server/ground/database/fixture.ts'
import type { MemoryBench } from '@steward/server/engine/memory/fixture.ts'
import { memoryBench } from '@steward/server/engine/memory/fixture.ts'
import type { Figure } from '../figures.ts'
import { median } from '../figures.ts'

const runs = 20

async function storeOf(setup: MemoryBench, memories: number): Promise<{ id: string }> {
  const store = await setup.newStore()
  const paths = Array.from({ length: memories }, (_, n) => `/topic-${n % 20}/memory-${n}.md`)
  const create = (path: string) =>
    store.create(Date.now(), { path, content: `# ${path}\n`.repeat(50) })
  for (let n = 0; n < memories; n += 100) await Promise.all(paths.slice(n, n + 100).map(create))
  return store
}

async function took(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

export async function* memories(): AsyncGenerator<Figure> {
  await using setup = await memoryBench(databases.sqlite)
  const running = await setup.start(await setup.session(await storeOf(setup, 2_000)))
  await running.call('cd /mnt/memory/notes')
  const times = { written: [] as number[], idle: [] as number[], before: [] as number[] }
  for (let run = 0; run < runs; run++) {
    times.before.push(await took(() => running.before() ?? Promise.resolve()))
    await running.shell(`echo ${run} >topic-3/memory-${20 * run + 3}.md`)
    times.written.push(await took(running.changed))
    times.idle.push(await took(running.changed))
  }
  await running.stop()
  const of = 'in a store of 2,000 memories'
  const unit = 'ms'
  yield {
    what: `write-back of one changed file ${of}`,
    value: median(times.written),
    unit,
    goal: 10,
  }
  yield { what: `a look where nothing changed ${of}`, value: median(times.idle), unit }
  yield {
    what: `whether others changed it, before a call ${of}`,
    value: median(times.before),
    unit,
  }

  const stores = [await storeOf(setup, 500), await storeOf(setup, 500)]
  const starts = { plain: [] as number[], first: [] as number[], again: [] as number[] }
  for (let run = 0; run < runs / 2; run++) {
    for (const [kind, session] of [
      ['plain', await setup.session()],
      ['first', await setup.session(...stores)],
    ] as const) {
      let started = await setup.start(session)
      await started.stop()
      starts[kind].push(
        await took(async () => {
          started = await setup.start(kind === 'plain' ? session : await setup.session(...stores))
          await started.call('true')
        }),
      )
      await started.stop()
      if (kind === 'plain') continue
      starts.again.push(
        await took(async () => {
          started = await setup.start(session)
          await started.call('true')
        }),
      )
      await started.stop()
    }
  }
  const plain = median(starts.plain)
  const added = (of: number[]) => Math.max(0, median(of) - plain)
  const two = '2 stores of 500 memories'
  yield { what: `added to the first call of a session by ${two}`, value: added(starts.first), unit }
  yield { what: `the same at the next start`, value: added(starts.again), unit }
}
