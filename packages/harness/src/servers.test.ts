/** Turns with tools that appear and disappear, and with egress refusals. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { GateRefusal } from '@steward/gate/outbound.ts'
import type { AssistantBlock } from '@steward/model/model.ts'
import type { ScriptedAnswer } from './fake-model.ts'
import { call, playTurn, text, tool, typesOf } from './fixture.ts'
import { emptyHistory, foldHistory, historyTypes, buildMessages } from './history.ts'
import type { KeptEvent } from './kept-event.ts'
import type { McpServers, ServerFailure } from './tools/mcp/servers.ts'
import { noServers } from './tools/mcp/servers.ts'
import { textResult } from './tools/tool.ts'
import type { OpenCall, Tool } from './turn.ts'

const echo = (more: Partial<Tool> = {}): Tool =>
  tool('mcp__files__echo', { mcp: { server: 'files', tool: 'echo' }, ...more })

const servers = (more: Partial<McpServers>): McpServers => ({ ...noServers, ...more })
const said = (...blocks: AssistantBlock[]): ScriptedAnswer => ({ blocks })
const find = (log: readonly KeptEvent[], type: string) =>
  log.flatMap(({ event }) => (event.type === type ? [event] : []))

void describe('a call of an MCP tool', () => {
  void it('and its result are events of their own, and one message of the history', async () => {
    const { log, model } = await playTurn({
      answers: [said(call('mcp__files__echo', { a: 1 })), said(text('done'))],
      servers: servers({ tools: () => [echo()] }),
    })
    const [use] = find(log, 'agent.mcp_tool_use')
    assert.ok(use)
    const { id, ...shown } = use
    assert.deepEqual(shown, {
      type: 'agent.mcp_tool_use',
      name: 'mcp__files__echo',
      mcp_server_name: 'files',
      mcp_tool_name: 'echo',
      input: { a: 1 },
      evaluated_permission: 'allow',
      evaluation: { type: 'always_allow' },
    })
    const [result] = find(log, 'agent.mcp_tool_result')
    assert.ok(result && 'mcp_tool_use_id' in result)
    assert.equal(result.mcp_tool_use_id, id)
    const folded = log.filter(({ event }) => historyTypes.includes(event.type))
    const history = buildMessages(foldHistory(emptyHistory(), folded))
    assert.deepEqual(
      history.map(({ role }) => role),
      ['assistant', 'tool_result', 'assistant'],
    )
    assert.deepEqual(model.calls[1]?.messages.slice(1), history.slice(0, 2))
  })

  void it('waits for a person where the agent asks one', async () => {
    const { log, end } = await playTurn({
      answers: [said(call('mcp__files__echo'))],
      servers: servers({ tools: () => [echo({ permission: 'ask' })] }),
    })
    const [use] = find(log, 'agent.mcp_tool_use')
    assert.deepEqual(end.stop, { type: 'requires_action', event_ids: [use?.id] })
  })

  void it('of a tool that is not there any more has a result of its kind', async () => {
    const { log } = await playTurn({ answers: [said(call('mcp__files__gone')), said(text('so'))] })
    assert.equal(find(log, 'agent.mcp_tool_use').length, 1)
    assert.equal(find(log, 'agent.mcp_tool_result').length, 1)
    assert.equal(find(log, 'agent.tool_result').length, 0)
  })

  void it('that was allowed waits until its server is there', async () => {
    const needed: (readonly string[])[] = []
    let isThere = false
    const open: OpenCall = {
      event_id: 'sevt_open',
      name: 'mcp__files__echo',
      input: {},
      decision: 'run',
    }
    const { log } = await playTurn({
      open: [open],
      answers: [said(text('done'))],
      servers: servers({
        async ready(options) {
          needed.push(options.needed)
          isThere = true
        },
        tools: () => (isThere ? [echo()] : []),
      }),
    })
    assert.deepEqual(needed, [['mcp__files__echo'], []])
    const [result] = find(log, 'agent.mcp_tool_result')
    assert.ok(result && 'is_error' in result && result.is_error === false)
  })
})

void describe('servers of a turn', () => {
  void it('give each model request the tools that are there then, behind the others', async () => {
    let requests = 0
    const { model } = await playTurn({
      answers: [said(call('bash')), said(text('done'))],
      tools: [tool('bash')],
      servers: servers({ tools: () => (requests++ < 1 ? [] : [echo()]) }),
    })
    const asked = model.calls.map(({ tools }) => tools.map(({ name }) => name))
    assert.deepEqual(asked.at(-1), ['bash', 'mcp__files__echo'])
  })

  void it('that fail are reported before the model is asked, or when the turn ends', async () => {
    const due: ServerFailure[][] = [
      [{ server: 'a', type: 'mcp_connection_failed_error', message: 'no way' }],
      [{ server: 'b', type: 'mcp_authentication_failed_error', message: 'no key' }],
    ]
    const { log, end } = await playTurn({
      answers: [said(text('done'))],
      servers: servers({ failures: () => due.shift() ?? [] }),
    })
    const retry_status = { type: 'retrying' }
    assert.deepEqual(
      find(log, 'session.error').map((event) => 'error' in event && event.error),
      [
        {
          type: 'mcp_connection_failed_error',
          message: 'no way',
          mcp_server_name: 'a',
          retry_status,
        },
        {
          type: 'mcp_authentication_failed_error',
          message: 'no key',
          mcp_server_name: 'b',
          retry_status,
        },
      ],
    )
    assert.equal(log[0]?.event.type, 'session.error')
    assert.deepEqual(end.stop, { type: 'end_turn' })
  })
})

void describe('a host that egress refused', () => {
  const refusal = (host: string): GateRefusal => ({
    host,
    port: 443,
    reason: 'not_allowed',
    message: 'the environment does not list it',
  })

  void it('is reported once, with the result of the tool that ran, in the same commit', async () => {
    const due = [[refusal('a.test'), refusal('a.test'), refusal('b.test')]]
    const { keeps } = await playTurn({
      answers: [said(call('bash')), said(text('so'))],
      tools: [tool('bash', { run: async () => textResult('exit 6', true) })],
      refusals: () => due.shift() ?? [],
    })
    const kept = keeps.find((each) => typesOf(each).includes('agent.tool_result')) ?? []
    assert.deepEqual(typesOf(kept), [
      'agent.tool_result',
      'session.warning',
      'session.warning',
      'span.model_request_start',
    ])
    const [result, warning] = kept.map(({ event }) => event)
    assert.ok(result && 'content' in result && warning && 'reason' in warning)
    assert.deepEqual(result.content?.at(-1), {
      type: 'text',
      text:
        'egress denied: a.test (not_allowed: the environment does not list it)\n' +
        'egress denied: b.test (not_allowed: the environment does not list it)',
    })
    assert.equal(warning.reason, 'egress_refused')
  })

  void it('is not reported twice if the result names it already', async () => {
    const due = [[refusal('a.test')]]
    const line = 'egress denied: a.test (not_allowed: the environment does not list it)'
    const { log } = await playTurn({
      answers: [said(call('look')), said(text('so'))],
      tools: [tool('look', { run: async () => textResult(`url_not_accessible: ${line}`, true) })],
      refusals: () => due.shift() ?? [],
    })
    const [result] = find(log, 'agent.tool_result')
    assert.ok(result && 'content' in result)
    assert.equal(result.content?.length, 1)
    assert.equal(find(log, 'session.warning').length, 1)
  })
})
