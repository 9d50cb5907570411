import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { processorMs } from '@steward/base/cost-fixture.ts'
import type { CredentialAuth } from '@steward/protocol/vaults.ts'
import {
  credentialOfHost,
  credentialOfServer,
  isCovered,
  secretsOfCommand,
  variablesFor,
} from './credential.ts'
import { buildCredentialRow } from '../inject/forward-fixture.ts'

const row = (id: string, auth: CredentialAuth) => buildCredentialRow(auth, {}, id)
const server = (id: string, mcp_server_url: string) =>
  row(id, { type: 'static_bearer', mcp_server_url })
const gh = row('gh', { type: 'cap_cli', cli_id: 'gh' })
const variable = (id: string, networking: { allowed_hosts: string[] } | 'any') =>
  row(id, {
    type: 'environment_variable',
    secret_name: id,
    networking:
      networking === 'any' ? { type: 'unrestricted' } : { type: 'limited', ...networking },
    injection_location: { header: true, body: true },
  })
const idOf = (rows: ReturnType<typeof row>[], url: string) =>
  credentialOfHost(rows, new URL(url))?.row.id

describe('the choice of a credential', () => {
  it('sends an http credential to its own port, and over https', () => {
    const plain = [server('plain', 'http://a.example:8080/mcp')]
    assert.equal(idOf(plain, 'http://a.example:8080/other'), 'plain')
    assert.equal(idOf(plain, 'https://a.example/'), 'plain')
    assert.equal(idOf(plain, 'http://a.example/'), undefined)
    const secure = [server('secure', 'https://a.example/mcp')]
    for (const url of ['http://a.example/mcp', 'http://a.example:443/mcp', 'https://b.a.example/'])
      assert.equal(idOf(secure, url), undefined, url)
    assert.equal(idOf(secure, 'https://A.EXAMPLE:8443/x'), 'secure')
  })

  it('knows the hosts of command line programs and their forms, over https alone', () => {
    assert.equal(idOf([gh], 'https://api.github.com/user'), 'gh')
    assert.equal(credentialOfHost([gh], new URL('https://github.com/a/b.git'))?.form, 'basic')
    assert.equal(idOf([gh], 'http://api.github.com/user'), undefined)
    assert.equal(idOf([gh], 'https://evil-github.com/'), undefined)
    assert.equal(credentialOfServer([gh], new URL('https://api.github.com/')), undefined)
  })

  it('sends the identity of an agent to its server and its hosts, over https alone', () => {
    const identity = (mcp_server_url: string | null, allowed_hosts: string[]) => [
      row('identity', {
        type: 'agent_identity',
        audience: 'a',
        mcp_server_url,
        allowed_hosts,
        ttl_seconds: 60,
        claims: {},
      }),
    ]
    const hosts = identity(null, ['a.example', '*.b.example'])
    for (const url of ['https://a.example/x', 'https://x.b.example/'])
      for (const choose of [credentialOfHost, credentialOfServer])
        assert.equal(choose(hosts, new URL(url))?.row.id, 'identity', url)
    for (const url of ['http://a.example/x', 'https://b.example/', 'https://x.a.example/'])
      assert.equal(idOf(hosts, url), undefined, url)
    assert.ok(isCovered(hosts, 'x.b.example') && !isCovered(hosts, 'b.example'))
    const server = identity('https://a.example/mcp', [])
    assert.equal(idOf(server, 'https://a.example/mcp'), 'identity')
    assert.equal(idOf(server, 'http://a.example/mcp'), undefined)
    assert.ok(isCovered(server, 'a.example'))
  })

  it('takes the first that matches, of whichever type', () => {
    const own = server('own', 'https://api.github.com/mcp')
    assert.equal(idOf([gh, own], 'https://api.github.com/user'), 'gh')
    assert.equal(idOf([own, gh], 'https://api.github.com/user'), 'own')
    assert.equal(idOf([gh, own], 'https://api.github.com/mcp/'), 'own')
  })

  it('takes no time, whatever the path', () => {
    const own = [server('own', 'https://a.example/mcp')]
    const began = processorMs()
    assert.equal(idOf(own, `https://a.example/${'/'.repeat(60_000)}x`), 'own')
    assert.ok(processorMs() - began < 1_000)
    const url = new URL(`https://a.example/mcp${'/'.repeat(60_000)}`)
    assert.equal(credentialOfServer(own, url)?.row.id, 'own')
  })

  it('exchanges variables for their hosts, and for subdomains of a suffix but not itself', () => {
    const rows = [
      variable('one', { allowed_hosts: ['API.example'] }),
      variable('sub', { allowed_hosts: ['*.example'] }),
      variable('any', 'any'),
    ]
    const ids = (url: string) => variablesFor(rows, new URL(url)).map(({ id }) => id)
    assert.deepEqual(ids('https://api.example/'), ['one', 'sub', 'any'])
    assert.deepEqual(ids('https://a.b.example/'), ['sub', 'any'])
    assert.deepEqual(ids('https://example/'), ['any'])
    assert.deepEqual(ids('http://api.example/'), [])
  })

  it('says which hosts must be read', () => {
    const rows = [server('own', 'https://a.example/mcp'), gh]
    assert.ok(isCovered(rows, 'a.example'))
    assert.ok(isCovered(rows, 'github.com'))
    assert.ok(!isCovered(rows, 'b.example'))
    assert.ok(isCovered([variable('any', 'any')], 'b.example'))
  })

  it('gives secrets to commands by whole words', () => {
    const secret = (id: string, command_prefixes: string[]) =>
      row(id, { type: 'command_secret', env_var: id, command_prefixes })
    const rows = [secret('push', ['git push']), secret('git', ['git', 'hub']), secret('all', [])]
    const ids = (...words: string[]) => secretsOfCommand(rows, words).map(({ id }) => id)
    assert.deepEqual(ids('git', 'push', '-f'), ['push', 'git', 'all'])
    assert.deepEqual(ids('git', 'pushx'), ['git', 'all'])
    assert.deepEqual(ids('/usr/bin/git'), ['all'])
    assert.deepEqual(ids('hub'), ['git', 'all'])
  })
})
