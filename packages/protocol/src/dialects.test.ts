import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { eventInDialect, inDialect, statusFilter } from './dialects.ts'

describe('the dialect of the client', () => {
  it('shows metadata that is no text as its JSON', () => {
    const metadata = { share: 0.5, on: true, none: null, deep: { a: [1] }, said: '1' }
    const agent = { type: 'agent', model: 'm', metadata }
    const text = { share: '0.5', on: 'true', none: 'null', deep: '{"a":[1]}', said: '1' }
    const session = { type: 'session', status: 'idle', agent }
    const shown = inDialect({ data: [agent, session] }, 'client').data
    assert.deepEqual(
      shown.map((each) => ('agent' in each ? each.agent : each).metadata),
      [text, text],
    )
    assert.deepEqual(inDialect(agent, 'interface'), agent)
  })

  it('names a tool of an MCP server as the server does, and has no fields twice', () => {
    const setup = { id: 'sevt_1', type: 'agent.mcp_tool_use' }
    const own = { mcp_server_name: 'files', mcp_tool_name: 'read', input: {} }
    const fields = { name: 'mcp__files__read', ...own }
    assert.deepEqual(eventInDialect(setup, fields, 'interface'), {
      ...{ ...setup, ...fields, data: fields },
    })
    assert.deepEqual(eventInDialect(setup, fields, 'client'), { ...setup, ...own, name: 'read' })
  })

  it('has the model of a changed agent as an object', () => {
    const setup = { type: 'session.updated' }
    const fields = { agent: { type: 'agent', model: 'm' } }
    const agent = Reflect.get(eventInDialect(setup, fields, 'client'), 'agent')
    assert.equal(Reflect.get(Object(Reflect.get(Object(agent), 'model')), 'id'), 'm')
    assert.deepEqual(eventInDialect(setup, { title: 't' }, 'client'), { ...setup, title: 't' })
  })

  it('takes the words of either for a status, and no others', () => {
    assert.deepEqual(statusFilter('idle', 'client'), ['idle', 'pending'])
    assert.deepEqual(statusFilter('done', 'client'), ['done'])
    assert.equal(statusFilter('Idle', 'client'), undefined)
  })
})
