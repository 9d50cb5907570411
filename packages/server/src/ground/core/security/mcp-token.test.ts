import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { derivedKey } from './signed-tokens.ts'
import { mcpTokens } from './mcp-token.ts'
import { tokenKind } from './token.ts'

const grant = { tenant: 'wrkspc_1', session: 'sesn_1', server: 'née "x"', expiresAt: 2_000 }
const tokens = mcpTokens(derivedKey('a root secret for tests', 'mcp token'))

describe('a token for an MCP server', () => {
  it('says whose session and which server it is for, until it expires', () => {
    const token = tokens.mint(grant)
    assert.equal(tokenKind(token), 'mcp')
    assert.match(token, /^stw_mcp_[\w-]+\.[\w-]{43}$/)
    assert.deepEqual(tokens.read(token, 1_999), grant)
    assert.equal(tokens.read(token, 2_000), undefined)
  })

  it('is still read after its key was replaced, and nothing new is signed with that', () => {
    const key = derivedKey('another root secret', 'mcp token')
    const both = mcpTokens(key, derivedKey('a root secret for tests', 'mcp token'))
    assert.deepEqual(both.read(tokens.mint(grant), 0), grant)
    assert.equal(tokens.read(both.mint(grant), 0), undefined)
  })

  it('is nothing under another root secret, or changed in any character', () => {
    const token = tokens.mint(grant)
    assert.equal(
      mcpTokens(derivedKey('another root secret', 'mcp token')).read(token, 0),
      undefined,
    )
    for (let at = 'stw_mcp_'.length; at < token.length - 1; at++) {
      const other = token[at] === 'A' ? 'B' : 'A'
      const changed = token.slice(0, at) + other + token.slice(at + 1)
      assert.equal(tokens.read(changed, 0), undefined, changed)
    }
    for (const wrong of ['stw_mcp_', 'stw_mcp_.', 'stw_mcp_e30', `${token.split('.')[0]}.`]) {
      assert.equal(tokens.read(wrong, 0), undefined)
    }
  })
})
