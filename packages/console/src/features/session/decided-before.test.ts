import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { SessionEvent } from '../../lib/api/types.ts'
import { decidedText, decisionsAbout } from './decided-before.ts'

const call = (id: string, name: string, mcp_server_name?: string) =>
  ({
    ...{ id, name, mcp_server_name },
    type: mcp_server_name === undefined ? 'agent.tool_use' : 'agent.mcp_tool_use',
  }) as SessionEvent
const decided = (tool_use_id: string, result: 'allow' | 'deny') =>
  ({ type: 'user.tool_confirmation', id: `of ${tool_use_id}`, tool_use_id, result }) as SessionEvent

const log = [
  ...[call('1', 'bash'), decided('1', 'allow'), call('2', 'bash'), decided('2', 'deny')],
  ...[call('3', 'write'), decided('3', 'allow'), call('4', 'echo', 'shop'), decided('4', 'allow')],
  ...[call('5', 'echo', 'bank'), decided('5', 'deny'), call('6', 'bash'), decided('6', 'allow')],
  call('7', 'bash'),
]

void describe('the summary of earlier decisions about a tool', () => {
  void it('counts the decisions about its calls, and about no other tool', () => {
    const of = (name: string, server?: string) => decisionsAbout({ name, server }, log)
    assert.deepEqual(of('bash'), { approved: 2, denied: 1 })
    assert.deepEqual(of('write'), { approved: 1, denied: 0 })
    assert.deepEqual(of('read'), { approved: 0, denied: 0 })
    assert.deepEqual(of('echo', 'shop'), { approved: 1, denied: 0 }, 'two servers, one name')
    assert.deepEqual(of('echo', 'bank'), { approved: 0, denied: 1 })
    assert.deepEqual(of('echo'), { approved: 0, denied: 0 })
  })

  void it('says no more than was looked at', () => {
    const some = { approved: 2, denied: 1 }
    const none = { approved: 0, denied: 0 }
    assert.match(decidedText('bash', some, true) ?? '', /: approved 2 times, denied once\.$/)
    assert.match(decidedText('bash', some, false) ?? '', /: at least approved 2 times/)
    assert.match(decidedText('bash', none, true) ?? '', /^Nobody has decided/)
    assert.equal(decidedText('bash', none, false), undefined)
  })
})
