import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { runInNewContext } from 'node:vm'
import type { ApiCall } from './api-call.ts'
import { callText } from './api-call.ts'

const call: ApiCall = {
  method: 'POST',
  path: '/v1/agents/agent_1',
  client: 'beta.agents.update',
  args: ['agent_1'],
  body: {
    version: 12,
    system: "Say what breaks,\nand don't guess.",
    description: null,
    tools: [
      {
        type: 'agent_toolset_20260401',
        configs: [{ name: 'bash', permission_policy: { type: 'always_ask' } }],
      },
    ],
    name: undefined,
  },
}

describe('the call of a form', () => {
  it('is a call of the official client that a program can run', () => {
    const text = callText(call, 'typescript', 'http://steward.test')
    const sent: unknown[] = []
    const client = { beta: { agents: { update: (...given: unknown[]) => sent.push(...given) } } }
    runInNewContext(text.replace('await ', ''), { client })
    assert.deepEqual(JSON.parse(JSON.stringify(sent)), [
      'agent_1',
      JSON.parse(JSON.stringify(call.body)),
    ])
  })

  it('is a call in Python, with its words for true, false and nothing', () => {
    const text = callText({ ...call, body: { ...call.body, fast: true } }, 'python', '')
    assert.match(text, /^client\.beta\.agents\.update\(\n {4}"agent_1",\n {4}version=12,/)
    assert.match(text, /description=None/)
    assert.match(text, /fast=True/)
    assert.doesNotMatch(text, /name=/)
  })

  it('is curl whose text no shell reads, and whose key is a variable', () => {
    const text = callText(call, 'curl', 'http://steward.test')
    assert.match(text, /^curl -X POST 'http:\/\/steward\.test\/v1\/agents\/agent_1'/)
    assert.match(text, /x-api-key: \$STEWARD_API_KEY/)
    assert.match(text, /don'\\''t guess/)
  })

  it('names ids of the path for the client alone', () => {
    const nested: ApiCall = { ...call, beside: { vault_id: 'vlt_1' }, body: { fast: true } }
    assert.match(callText(nested, 'typescript', ''), /\{ vault_id: 'vlt_1', fast: true \}/)
    assert.match(callText(nested, 'python', ''), /vault_id="vlt_1"/)
    assert.doesNotMatch(callText(nested, 'curl', ''), /vlt_1/)
  })

  it('has the fields of a form', () => {
    const upload: ApiCall = {
      method: 'POST',
      path: '/v1/skills',
      body: {},
      form: [['files[]', '@a/SKILL.md']],
    }
    assert.match(callText(upload, 'curl', ''), /-F 'files\[\]=@a\/SKILL\.md'$/)
  })

  it('omits an empty body', () => {
    const archive: ApiCall = {
      method: 'POST',
      path: '/v1/agents/agent_1/archive',
      client: 'beta.agents.archive',
      args: ['agent_1'],
      body: {},
    }
    assert.equal(callText(archive, 'typescript', ''), "await client.beta.agents.archive('agent_1')")
    assert.doesNotMatch(callText(archive, 'curl', ''), /-d/)
  })
})
