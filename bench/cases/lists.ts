/** Lists of many sessions in short, and the overview of their workspace. */
import type { Figure } from '../figures.ts'
import { median } from '../figures.ts'
import type { BenchSetup } from './setup.ts'
import { newSession } from './setup.ts'

const count = 10_000
const together = 16
const runs = 30
const goal = 10

const orders = ['created', 'active', 'cost', 'tokens', 'ran'].map((sort) => `sort=${sort}`)
const filters = [
  'status=idle',
  'status=running',
  'waiting_on=person',
  'failed=true',
  'max_cost=100',
  'text=absent',
]

export async function* lists(setup: BenchSetup): AsyncGenerator<Figure> {
  const { call, agents } = setup
  for (let made = 0; made < count; made += together)
    await Promise.all(Array.from({ length: together }, () => newSession(setup, 'one')))
  const timeOf = async (path: string): Promise<number> => {
    const times: number[] = []
    for (let run = 0; run < runs; run++) {
      const began = performance.now()
      await call.get(path)
      times.push(performance.now() - began)
    }
    return median(times)
  }
  for (const query of [...orders, ...filters, `agent_id=${agents['one']}`, 'agent_id=agent_none'])
    yield {
      what: `50 of 10,000 sessions by ${query.replace(/=agent_[0-9a-f]+$/, '=its agent')}`,
      value: await timeOf(`/v1/ext/sessions?limit=50&${query}`),
      unit: 'ms',
      goal,
    }
  const value = await timeOf('/v1/ext/overview')
  yield { what: 'overview of 10,000 sessions', value, unit: 'ms', goal }
}
