/** Calls to a server that a test runs as a process. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Usage } from '@steward/model/model.ts'
import { computeCost } from '@steward/model/price.ts'
import type { UsageReport } from '@steward/protocol/usage.ts'

export const headers = { 'x-api-key': 'key', 'content-type': 'application/json' }

/** Returns the answer's JSON. Fails for an error status. `T` is not checked. */
export async function callServer<T>(
  { base }: { base: string },
  method: string,
  path: string,
  body?: object,
): Promise<T> {
  const response = await fetch(base + path, {
    method,
    headers,
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  assert.ok(response.ok, `${method} ${path}: ${response.status}`)
  const text = await response.text()
  return (text ? JSON.parse(text) : undefined) as T
}

const price = { input: 30, output: 2_000, cacheRead: 0, cacheWrite: 0 }

/** Writes a file with a price for the offline model. Returns its path. */
export function pricesIn(folder: string): string {
  const path = join(folder, 'prices.json')
  writeFileSync(path, JSON.stringify({ offline: price }))
  return path
}

/** Checks that the usage in the log equals the cost of the session and of its usage rows. */
export async function assertCountedOnce(
  server: { base: string },
  session: string,
  events: readonly { [field: string]: unknown }[],
): Promise<void> {
  const used = events.flatMap((each) => (each['model_usage'] as Usage | undefined) ?? [])
  const units = used.reduce((sum, usage) => sum + computeCost(usage, price), 0)
  assert.ok(units > 0)
  const from = new Date(Date.now() - 86_400_000).toISOString()
  const path = `/v1/ext/usage?starting_at=${from}&group_by=session_id`
  const { data } = await callServer<UsageReport>(server, 'GET', path)
  const results = data.flatMap((bucket) => bucket.results)
  const counted = results.filter(({ session_id }) => session_id === session)
  const cents = counted.reduce((sum, { list_cost }) => sum + Number(list_cost?.amount), 0)
  assert.equal(Math.round(cents * 10_000), units)
  const { usage } = await callServer<{ usage: { list_cost: { amount: string } } }>(
    server,
    'GET',
    `/v1/sessions/${session}`,
  )
  assert.equal(usage.list_cost.amount, String(Math.floor((units + 5_000) / 10_000)))
}
