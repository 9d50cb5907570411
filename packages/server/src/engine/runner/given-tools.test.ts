import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { tool } from '@steward/harness/fixture.ts'
import { withGiven } from './given-tools.ts'

describe('tools that are given to a session', () => {
  it('come behind those of the agent, whose own tool of the same name stays', () => {
    const [own, bash] = [tool('open_pull_request'), tool('bash')]
    const [given, ofWorker] = [tool('open_pull_request'), tool('mcp__x__y')]
    assert.deepEqual(withGiven([bash], [given], [ofWorker]), [bash, given, ofWorker])
    assert.deepEqual(withGiven([own, bash], [given], []), [own, bash])
  })
})
