import assert from 'node:assert/strict'
import { it } from 'node:test'
import { jsonLog } from '@steward/base/log.ts'
import { systemClock } from '@steward/base/time.ts'
import { connectionRefused } from '../ground/http/connections.ts'
import { logRefusedConnections } from './refused-connections.ts'

it('warns of the first connection that was refused, and once in a minute of those since', () => {
  const lines: string[] = []
  let now = 1_000
  const end = logRefusedConnections(
    jsonLog((line) => lines.push(line)),
    { ...systemClock, now: () => now },
  )
  for (let n = 0; n < 5; n++) connectionRefused.tell({ isNew: false })
  now += 60_000
  connectionRefused.tell({ isNew: true })
  end()
  connectionRefused.tell({ isNew: true })
  assert.deepEqual(
    lines.map((line) => (JSON.parse(line) as { count: number }).count),
    [1, 5],
  )
})
