import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Session, VaultCredential } from '../../lib/api/types.ts'
import { credentialFor, destinationOf } from './destination.ts'

let made = 0
function credential(display_name: string, mcp_server_url: string, type = 'static_bearer') {
  made++
  const created_at = new Date(made * 1_000).toISOString()
  return {
    ...{ id: `vcrd_${made}`, display_name, created_at },
    auth: { type, mcp_server_url },
  } as VaultCredential
}

void describe('where a call that asks goes', () => {
  const agent = {
    mcp_servers: [{ name: 'shop', type: 'url', url: 'https://shop.example:8443/mcp' }],
  } as Pick<Session['agent'], 'mcp_servers'>
  const of = (name: string, server: string | undefined, input: Record<string, unknown> = {}) =>
    destinationOf({ name, server, input }, agent).host

  void it('is the host of its MCP server, or of the page that it fetches', () => {
    assert.equal(of('buy', 'shop'), 'shop.example:8443')
    assert.equal(of('web_fetch', undefined, { url: 'https://docs.example/a' }), 'docs.example')
  })

  void it('is not said where nobody knows it', () => {
    assert.equal(of('buy', 'gone'), undefined)
    assert.equal(of('web_fetch', undefined, { url: 'no address' }), undefined)
    assert.equal(of('web_fetch', undefined, { url: 7 }), undefined)
    assert.equal(of('bash', undefined, { url: 'https://docs.example' }), undefined)
    assert.equal(of('web_fetch', 'gone', { url: 'https://docs.example' }), undefined)
  })
})

void describe('the credential for an MCP server', () => {
  const url = new URL('https://shop.example/mcp')

  void it('is the one of its address in any vault, in any spelling, before one of its host', () => {
    const vaults = [
      [credential('of the host', 'https://shop.example/other')],
      [credential('of the address', 'HTTPS://Shop.example:443/mcp/')],
    ]
    assert.equal(credentialFor(url, vaults), 'of the address')
  })

  void it('is of several for its host that of the first vault, and there the oldest', () => {
    const old = credential('old', 'https://shop.example/a')
    const vaults = [[credential('new', 'https://shop.example/b'), old]]
    assert.equal(credentialFor(url, [[], ...vaults]), 'old')
    assert.equal(
      credentialFor(url, [[credential('first', 'https://shop.example/c')], [old]]),
      'first',
    )
  })

  void it('is none of another host, of another kind, or for https where the server has http', () => {
    const https = credential('safe', 'https://shop.example/a')
    assert.equal(credentialFor(new URL('http://shop.example/mcp'), [[https]]), undefined)
    assert.equal(credentialFor(url, [[credential('other', 'https://bank.example/mcp')]]), undefined)
    const variable = credential('variable', 'https://shop.example/mcp', 'environment_variable')
    assert.equal(credentialFor(url, [[variable]]), undefined)
  })

  void it('goes by its id where it has no name', () => {
    const nameless = credential('', 'https://shop.example/mcp')
    assert.equal(credentialFor(url, [[nameless]]), nameless.id)
  })
})
