import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { hashToken, newToken, previewToken, isSameSecret, tokenKind } from './token.ts'

describe('a token', () => {
  it('shows its kind by its prefix', () => {
    for (const kind of ['workspace', 'environment'] as const) {
      assert.equal(tokenKind(newToken(kind)), kind)
    }
  })

  it('counts as a workspace key when it has none of the prefixes', () => {
    for (const token of ['sk-anything', 'secret', '', 'STW_ENV_x', ' stw_env_x', 'xstw_claim_y']) {
      assert.equal(tokenKind(token), 'workspace')
    }
  })

  it('holds 256 random bits, in characters that need no escaping', () => {
    const tokens = Array.from({ length: 100 }, () => newToken('workspace'))
    assert.equal(new Set(tokens).size, 100)
    for (const token of tokens) assert.match(token, /^stw_key_[\w-]{43}$/)
  })

  it('is stored as the SHA-256 of its bytes, in hex', () => {
    assert.equal(
      hashToken('abc'),
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    )
  })

  it('previews by its last four characters, and a short one by nothing', () => {
    assert.equal(previewToken('stw_key_abcdefgh'), '…efgh')
    assert.equal(previewToken('short'), '…')
    assert.equal(previewToken(''), '…')
  })

  it('is compared by its bytes, also when the lengths differ', () => {
    assert.ok(isSameSecret('ünï', 'ünï'))
    assert.ok(!isSameSecret('abc', 'abd'))
    assert.ok(!isSameSecret('abc', 'abcd'))
  })
})
