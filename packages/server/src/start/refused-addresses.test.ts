import assert from 'node:assert/strict'
import { it } from 'node:test'
import { jsonLog } from '@steward/base/log.ts'
import { systemClock } from '@steward/base/time.ts'
import { refusedAddresses } from './refused-addresses.ts'

it('logs each refused address once in a minute, and a hundred of them at most', () => {
  let now = 0
  const lines: string[] = []
  const clock = { ...systemClock, now: () => now }
  const refused = refusedAddresses(
    jsonLog((line) => lines.push(line)),
    clock,
  )('tenant')
  const setup = { host: 'a.example', port: 443, address: '127.0.0.1' }
  refused(setup)
  refused(setup)
  refused({ ...setup, host: 'b.example' })
  assert.equal(lines.length, 2)
  assert.match(lines[0] ?? '', /"named_by":"tenant","host":"a\.example"/)
  for (let port = 1; port <= 200; port++) refused({ ...setup, port })
  assert.equal(lines.length, 100)
  now += 60_000
  refused(setup)
  assert.equal(lines.length, 101)
})
