import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { unknownPathErrors } from './unknown-path.ts'
import { rawRoute } from './route.ts'

const at = (path: string) =>
  rawRoute(
    { method: 'get', path, callers: ['anyone'], section: 'Tests', summary: 'For tests' },
    async () => ({}),
  )
const absent = unknownPathErrors([
  at('/v1/agents'),
  at('/v1/ext/webhook_endpoints/:id'),
  at('/v1/files/:id'),
])
const why = (path: string, method = 'GET') => absent(method, path).message

describe('a path that is not there', () => {
  it('is refused by name if it is a part of the official interface that is not offered', () => {
    for (const [path, name] of [
      ['/v1/messages', 'the Messages API is'],
      ['/v1/messages/count_tokens', 'the Messages API is'],
      ['/v1/user_profiles/uprof_1', 'user profiles are'],
    ])
      assert.equal(why(path ?? ''), `GET ${path}: ${name} not offered by this service`)
    assert.equal(why('/v1/messagesx'), 'there is no GET /v1/messagesx')
    assert.equal(why('/v1/sessions/a/threads/b'), 'there is no GET /v1/sessions/a/threads/b')
  })

  it('leads to the same path below /v1/ext, and back', () => {
    const there = '; there is /v1/ext/webhook_endpoints/whep_1'
    assert.equal(
      why('/v1/webhook_endpoints/whep_1'),
      `there is no GET /v1/webhook_endpoints/whep_1${there}`,
    )
    assert.equal(why('/v1/ext/agents'), 'there is no GET /v1/ext/agents; there is /v1/agents')
    assert.equal(why('/v1/agents', 'DELETE'), 'there is no DELETE /v1/agents')
  })
})
