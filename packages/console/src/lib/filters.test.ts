import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { FilterField } from './filters.ts'
import {
  completionsOf,
  readFilterLine,
  resolveFilters,
  shownValue,
  withoutFilter,
} from './filters.ts'

const fields: readonly FilterField[] = [
  { name: 'status', values: ['running', 'idle', 'failed'], isMany: true },
  { name: 'since', check: (value) => (/^\d+d$/.test(value) ? undefined : 'a number and d') },
]
const agent: FilterField = {
  name: 'agent',
  things: {
    isId: (value) => value.startsWith('agent_'),
    all: [
      { id: 'agent_1', name: 'reviewer' },
      { id: 'agent_2', name: 'twin' },
      { id: 'agent_3', name: 'Twin' },
      { id: 'agent_4', name: 'release notes' },
    ],
  },
}
const more: readonly FilterField[] = [
  ...fields,
  agent,
  { name: 'version', needs: 'agent' },
  { name: 'text', isText: true },
]
const offeredOf = (line: string, of = fields) =>
  completionsOf(line, of).offered.map(({ word }) => word)

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

  void it('looks for plain words as text, and for quoted words', () => {
    const { filters } = readFilterLine('flaky status:idle text:"the test" again', more, {})
    assert.deepEqual(filters, { text: 'the test again', status: 'idle' })
    assert.deepEqual(readFilterLine('tests', more, { text: 'flaky' }).filters, {
      text: 'flaky tests',
    })
  })

  void it('completes names, and the last of several values', () => {
    assert.deepEqual(offeredOf(''), ['status:', 'since:'])
    assert.deepEqual(offeredOf('since:1d st'), ['status:'])
    assert.deepEqual(offeredOf('status:i'), ['status:idle'])
    assert.deepEqual(offeredOf('status:idle,f'), ['status:idle,failed'])
    assert.deepEqual(offeredOf('since:1'), [])
    assert.deepEqual(offeredOf('other:x'), [])
  })
})

void describe('a filter that names a thing', () => {
  void it('is typed by name, in quotes if it has blanks, and kept by id', () => {
    assert.deepEqual(readFilterLine('agent:Reviewer', more, {}).filters, { agent: 'agent_1' })
    assert.deepEqual(readFilterLine('agent:"release notes"', more, {}).filters, {
      agent: 'agent_4',
    })
    assert.deepEqual(readFilterLine('agent:agent_9', more, {}).filters, { agent: 'agent_9' })
    assert.equal(shownValue(agent, 'agent_4'), 'release notes')
  })

  void it('says that a name is unknown, and that several have it', () => {
    assert.match(readFilterLine('agent:auditor', more, {}).problem ?? '', /“auditor”/)
    assert.match(readFilterLine('agent:twin', more, {}).problem ?? '', /2 .*“twin”/)
  })

  void it('completes names; things of one name are distinguished by their ids', () => {
    assert.deepEqual(offeredOf('agent:re', more), ['agent:reviewer', 'agent:"release notes"'])
    assert.deepEqual(offeredOf('agent:"release n', more), ['agent:"release notes"'])
    assert.deepEqual(offeredOf('agent:twin', more), ['agent:agent_2', 'agent:agent_3'])
    assert.equal(completionsOf('agent:twin', more).isOptional, true)
    assert.deepEqual(offeredOf('agent:reviewer', more), [])
  })

  void it('may be a name in an address, which waits until the names are there', () => {
    const coming = [{ name: 'agent', things: { isId: () => false, all: undefined } }]
    assert.deepEqual(resolveFilters({ agent: 'reviewer' }, coming), { isWaiting: true })
    assert.deepEqual(resolveFilters({ agent: 'reviewer', status: 'idle' }, more), {
      filters: { agent: 'agent_1', status: 'idle' },
    })
    const several = resolveFilters({ agent: 'twin' }, more)
    assert.ok('choices' in several)
    assert.deepEqual(
      several.choices.map(({ id }) => id),
      ['agent_2', 'agent_3'],
    )
  })

  void it('takes with it the filters that say nothing without it', () => {
    assert.match(readFilterLine('version:3', more, {}).problem ?? '', /version.*agent/)
    const { filters } = readFilterLine('agent:reviewer version:3 status:idle', more, {})
    assert.deepEqual(withoutFilter(filters, 'agent', more), { status: 'idle' })
  })
})
