import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Multiagent } from '@steward/protocol/multiagent.ts'
import type { SessionAgent } from '@steward/protocol/sessions.ts'
import { toJson } from '../../ground/core/text/json-text.ts'
import { memberNamed, showAgent } from './roster.ts'

const agent = (id: string, more: Partial<SessionAgent> = {}): SessionAgent => ({
  id,
  type: 'agent',
  version: 1,
  name: `name of ${id}`,
  description: null,
  model: 'offline',
  system: null,
  tools: [],
  mcp_servers: [],
  skills: [],
  environment_id: null,
  memory_store_id: null,
  harness: 'default',
  metadata: { compaction_strategy: 'summarize' },
  multiagent: null,
  execution_identity: { type: 'service_account' },
  ...more,
})
const reference = (id: string) => ({ type: 'agent', id, version: 1 }) as const

describe('the agents that a session may start', () => {
  const agents = [reference('a'), reference('boss'), { type: 'advisor', model: 'wise' } as const]
  const multiagent: Multiagent = { type: 'coordinator', agents }
  const boss = agent('boss', { system: 'overridden', multiagent })
  const roster = toJson([agent('a', { system: 'of a' })])
  const session = { agent: toJson(boss), roster }

  it('are found by their names, the session own agent as the session has it', () => {
    assert.deepEqual(memberNamed(session, 'name of a'), agent('a', { system: 'of a' }))
    const self = memberNamed(session, 'name of boss')
    assert.deepEqual(self, agent('boss', { system: 'overridden' }))
    assert.equal(memberNamed(session, 'anthropic.advisor'), undefined)
    assert.equal(memberNamed({ ...session, agent: toJson(agent('boss')) }, 'name of a'), undefined)
  })

  it('are shown in their order without what only a session has, the advisor last', () => {
    const { multiagent: shown } = showAgent(boss, roster)
    assert.ok(shown?.type === 'coordinator')
    const [first, second, last] = shown.agents
    assert.deepEqual(last, { type: 'advisor', model: 'wise' })
    const names = [first, second].map((each) => each && 'name' in each && each.name)
    assert.deepEqual(names, ['name of a', 'name of boss'])
    assert.deepEqual(first && Object.keys(first).toSorted(), [
      'description',
      'execution_identity',
      'id',
      'mcp_servers',
      'model',
      'name',
      'skills',
      'system',
      'tools',
      'type',
      'version',
    ])
  })
})
