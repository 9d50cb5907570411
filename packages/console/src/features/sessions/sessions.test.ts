import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { filtersOf, SessionSearch, sessionQueryOf } from './filters.ts'
import { heldRows } from './held-rows.ts'

void describe('the filters of an address', () => {
  void it('are sent to the service, and unknown ones are omitted', () => {
    const now = Date.UTC(2026, 10, 27, 12, 0, 30)
    const search = SessionSearch.parse({ status: 'running,odd', since: '1d', agent: 7, more: 'x' })
    assert.deepEqual(sessionQueryOf(filtersOf(search), now), {
      status: ['running'],
      'created_at[gte]': '2026-11-26T12:00:00.000Z',
    })
    assert.deepEqual(sessionQueryOf({}, now), {})
  })

  void it('take costs in dollars, and a version together with its agent', () => {
    assert.deepEqual(sessionQueryOf({ cost: '>0.5' }, 0), { min_cost: '50' })
    assert.deepEqual(sessionQueryOf({ cost: '0.1-2' }, 0), { min_cost: '10', max_cost: '200' })
    assert.deepEqual(sessionQueryOf({ cost: 'much', version: '3' }, 0), {})
    assert.deepEqual(sessionQueryOf({ agent: 'agent_1', version: '3' }, 0), {
      agent_id: 'agent_1',
      agent_version: 3,
    })
  })
})

void describe('rows under the pointer', () => {
  const rows = (...ids: string[]) => ids.map((id) => ({ id }))

  void it('do not move: newer rows are counted and come later, others are updated where they are', () => {
    assert.deepEqual(heldRows(rows('c', 'b', 'a'), ['b', 'a']), { rows: rows('b', 'a'), newer: 1 })
    assert.deepEqual(heldRows(rows('b', 'a'), undefined), { rows: rows('b', 'a'), newer: 0 })
    assert.deepEqual(heldRows(rows('c'), []), { rows: [], newer: 1 })
  })
})
