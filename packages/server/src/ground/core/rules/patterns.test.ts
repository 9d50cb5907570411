import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { RuleKind } from '@steward/protocol/rules.ts'
import { matcherOf, refusePattern, stdioName } from './patterns.ts'

/** The names among the given ones that the patterns match. */
const matched = (kind: RuleKind, patterns: string[], names: string[]): string[] =>
  names.filter(matcherOf(kind, patterns))

describe('patterns of allow-lists', () => {
  it('a host matches its URLs with any path, and no other host', () => {
    const urls = [
      'https://mcp.example/a',
      'https://MCP.example:8443/b?c=d',
      'http://mcp.example./a',
      'https://eu.mcp.example/a',
      'https://mcp.example.other/a',
      'https://other/mcp.example',
    ]
    assert.deepEqual(matched('mcp_servers', ['mcp.example'], urls), urls.slice(0, 3))
  })

  it('*. and a host matches all hosts below it, and not the host itself', () => {
    const urls = [
      'https://a.example',
      'https://a.b.example/x',
      'https://example',
      'https://anexample',
    ]
    assert.deepEqual(matched('webhooks', ['*.example'], urls), urls.slice(0, 2))
  })

  it('the beginning of a URL matches whole segments of its path, at its scheme and port alone', () => {
    const urls = [
      'https://mcp.example/team',
      'https://mcp.example/team/a?b=c',
      'https://mcp.example/teams',
      'https://mcp.example/',
      'http://mcp.example/team',
      'https://mcp.example:8443/team',
      'https://mcp.example.other/team',
    ]
    for (const pattern of ['https://mcp.example/team', 'https://mcp.example/team/'])
      assert.deepEqual(matched('mcp_servers', [pattern], urls), urls.slice(0, 2))
  })

  it('a path that climbs out of the beginning does not match, in any spelling', () => {
    const urls = ['../admin', '%2e%2e/admin', '..%2fadmin', 'a%5c..%5cadmin', '.%2e/admin'].map(
      (path) => `https://mcp.example/team/${path}`,
    )
    assert.deepEqual(matched('mcp_servers', ['https://mcp.example/team'], urls), [])
  })

  it('a * begins the host of a URL', () => {
    const urls = ['https://a.example/mcp', 'https://a.example/other', 'https://example/mcp']
    assert.deepEqual(matched('mcp_servers', ['https://*.example/mcp'], urls), urls.slice(0, 1))
  })

  it('an address matches no host, and a URL with the same address', () => {
    const urls = ['http://127.0.0.1:8080/mcp', 'http://[::1]/mcp']
    assert.deepEqual(matched('mcp_servers', ['127.0.0.1.example'], urls), [])
    assert.deepEqual(matched('mcp_servers', ['http://127.0.0.1:8080/'], urls), urls.slice(0, 1))
  })

  it('servers that workers start have names of their own, which no host matches', () => {
    const names = [stdioName('files'), stdioName('shell'), 'https://files.example/']
    assert.deepEqual(matched('mcp_servers', ['stdio:f*', '*.other'], names), [stdioName('files')])
    assert.deepEqual(matched('mcp_servers', ['files'], names), [])
  })

  it('a * of a name matches any characters, and every other character itself', () => {
    const names = ['anthropic/claude-a', 'claude-a', 'anthropic/claude.a', 'openai/gpt-5', 'x+y']
    assert.deepEqual(matched('models', ['anthropic/claude-*'], names), names.slice(0, 1))
    assert.deepEqual(matched('models', ['*/*-*'], names), ['anthropic/claude-a', 'openai/gpt-5'])
    assert.deepEqual(matched('models', ['x+y', 'a.*'], names), ['x+y'])
    assert.deepEqual(matched('models', ['*'], names), names)
    assert.deepEqual(matched('images', ['a*a'], ['a', 'aa', 'aba']), ['aa', 'aba'])
  })

  it('an empty list matches nothing', () => {
    assert.deepEqual(matched('models', [], ['offline']), [])
  })

  it('many * take no more time than few', () => {
    const started = performance.now()
    assert.deepEqual(matched('models', ['*a'.repeat(250)], ['a'.repeat(249) + 'b']), [])
    assert.ok(performance.now() - started < 1_000)
  })

  it('refuses what would match nothing, or something else than it seems to', () => {
    const refused: [RuleKind, string][] = [
      ['mcp_servers', 'mcp.example/path'],
      ['mcp_servers', 'a*.example'],
      ['mcp_servers', 'ftp://mcp.example'],
      ['mcp_servers', 'https://user@mcp.example'],
      ['mcp_servers', 'https://mcp.example/*'],
      ['mcp_servers', 'https://a*.example/'],
      ['mcp_servers', 'https://mcp.example/?a=b'],
      ['webhooks', 'stdio:files'],
      ['models', 'a b'],
    ]
    for (const [kind, pattern] of refused) assert.ok(refusePattern(kind, pattern), pattern)
  })
})
