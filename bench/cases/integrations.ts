/** Deliveries of integrations at a steady rate: the time of each answer, and the time of the request to the model. */
import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { signedHeaders } from '@steward/server/tenants/webhooks/sign.ts'
import { request } from 'undici'
import type { Figure } from '../figures.ts'
import { median } from '../figures.ts'
import type { BenchSetup } from './setup.ts'

const path = '/v1/ext/integrations/webhook/publications'
const rate = 50
const deliveries = { warm: 50, measured: 500 }
const allMs = 30_000

type Publication = { delivery_url: string; secret: string }

export async function* integrations(setup: BenchSetup): AsyncGenerator<Figure> {
  const { call, environment, agents, modelUrl } = setup
  const made = (await call.post(path, {
    agent: agents['one'],
    environment_id: environment,
    webhook: {
      mapping: { scope: '/thread', author: '/user', text: '/text' },
      authors: ['ada'],
    },
  })) as Publication
  const sent = new Map<string, number>()
  const answered: number[] = []

  /** Each delivery begins a thread, so the server also creates a session. */
  async function deliver(n: number): Promise<void> {
    const mark = `mark-${randomUUID()}`
    const body = JSON.stringify({ thread: mark, user: 'ada', text: `begin turn ${mark}` })
    const headers = signedHeaders({ id: mark, body }, [made.secret], Date.now())
    const began = performance.now()
    const { statusCode, body: answer } = await request(made.delivery_url, {
      method: 'POST',
      headers,
      body,
    })
    await answer.dump()
    if (statusCode !== 200) throw new Error(`a delivery was answered with ${statusCode}`)
    if (n < deliveries.warm) return
    answered.push(performance.now() - began)
    sent.set(mark, performance.timeOrigin + began)
  }

  const all: Promise<void>[] = []
  const began = performance.now()
  for (let n = 0; n < deliveries.warm + deliveries.measured; n++) {
    await wait(Math.max(0, began + (n * 1000) / rate - performance.now()))
    all.push(deliver(n))
  }
  await Promise.all(all)
  const asked = await askedAt(modelUrl, sent)
  yield {
    what: `a delivery, ${rate} a second: answered`,
    value: median(answered),
    unit: 'ms',
    goal: 20,
  }
  yield {
    what: `a delivery, ${rate} a second: the model is asked`,
    value: median([...sent].map(([mark, at]) => (asked[mark] ?? Number.NaN) - at)),
    unit: 'ms',
    goal: 150,
  }
}

async function askedAt(
  modelUrl: string,
  sent: ReadonlyMap<string, number>,
): Promise<Record<string, number>> {
  for (const until = performance.now() + allMs; performance.now() < until; await wait(100)) {
    const { body } = await request(`${modelUrl}/marks`)
    const asked = (await body.json()) as Record<string, number>
    if ([...sent.keys()].every((mark) => mark in asked)) return asked
  }
  throw new Error(`not every delivery has asked the model within ${allMs} ms`)
}
