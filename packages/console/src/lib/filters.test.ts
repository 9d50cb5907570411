import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { FilterField } from './filters.ts'
import { completionsOf, readFilterLine } from './filters.ts'

const fields: readonly FilterField[] = [
  { name: 'status', values: ['running', 'idle', 'failed'], isMany: true },
  { name: 'since', check: (value) => (/^\d+d$/.test(value) ? undefined : 'a number and d') },
]

void describe('a line of filters', () => {
  void it('adds what it says to the filters that are there', () => {
    assert.deepEqual(readFilterLine(' status:running,idle  since:7d ', fields, { since: '1d' }), {
      filters: { status: 'running,idle', since: '7d' },
    })
  })

  void it('takes nothing where one word is a mistake, and names the mistake', () => {
    const before = { since: '1d' }
    for (const [line, problem] of [
      ['since:2d agnet:x', /no filter “agnet”.*status, since/],
      ['since:2d status:runing', /“runing” is no status.*running, idle, failed/],
      ['since:soon', /“soon” is no since.*a number and d/],
      ['status:', /is no status/],
      ['flaky', /in place of “flaky”/],
    ] as const) {
      const read = readFilterLine(line, fields, before)
      assert.deepEqual(read.filters, before, line)
      assert.match(read.problem ?? '', problem)
    }
  })

  void it('completes names, and the last of several values', () => {
    assert.deepEqual(completionsOf('', fields), ['status:', 'since:'])
    assert.deepEqual(completionsOf('since:1d st', fields), ['status:'])
    assert.deepEqual(completionsOf('status:i', fields), ['status:idle'])
    assert.deepEqual(completionsOf('status:idle,f', fields), ['status:idle,failed'])
    assert.deepEqual(completionsOf('since:1', fields), [])
    assert.deepEqual(completionsOf('other:x', fields), [])
  })
})
