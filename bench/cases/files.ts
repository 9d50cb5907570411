/** Sessions with input files and output files. */
import { watch } from '../client.ts'
import type { Figure } from '../figures.ts'
import { median } from '../figures.ts'
import { key } from '../processes.ts'
import type { BenchSetup } from './setup.ts'
import { message } from './setup.ts'

const runs = 15
const count = 20

async function upload({ base }: BenchSetup, bytes: number): Promise<string> {
  const form = new FormData()
  form.set('file', new Blob([new Uint8Array(bytes).fill(97)]), 'a.csv')
  const answer = await fetch(`${base}/v1/files`, {
    method: 'POST',
    headers: { 'x-api-key': key },
    body: form,
  })
  return ((await answer.json()) as { id: string }).id
}

/** Measures the time to the result of the first call, and the time to the end of the turn. */
async function firstCall(setup: BenchSetup, resources: object[]) {
  const { agents, environment, call, base } = setup
  const session = await call.make('/v1/sessions', {
    ...{ agent: agents['bash'], environment_id: environment, resources },
  })
  const stream = await watch(base, session)
  const result = stream.until('agent.tool_result')
  const began = performance.now()
  await call.post(`/v1/sessions/${session}/events`, message())
  const took = (await result).at - began
  await stream.close()
  return took
}

export async function* givenFiles(setup: BenchSetup): AsyncGenerator<Figure> {
  const ids = await Promise.all(Array.from({ length: count }, () => upload(setup, 10_000)))
  const resources = ids.map((file_id) => ({ type: 'file', file_id }))
  const [without, withThem]: [number[], number[]] = [[], []]
  for (let run = 0; run < runs; run++) {
    without.push(await firstCall(setup, []))
    withThem.push(await firstCall(setup, resources))
  }
  yield {
    what: 'session start, until its first call has a result',
    value: median(without),
    unit: 'ms',
  }
  yield { what: `the same with ${count} files`, value: median(withThem), unit: 'ms', goal: 150 }
}
