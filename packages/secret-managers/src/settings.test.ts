import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseKeyService, parseSecretManagers, prefixFor } from './settings.ts'

const workspace = 'wrkspc_019c2f0a7b3c7d40a1b2c3d4e5f60718'
const auth = { type: 'token', token: 'hvs.the-token-of-the-server' }
const vault = (more: object) => ({ type: 'vault', address: 'https://v.example', auth, ...more })
const managers = (settings: object) => parseSecretManagers(JSON.stringify({ company: settings }))
const withPrefix = (of: string, prefix: string) =>
  managers(vault({ workspaces: { [of]: { prefix } } }))

describe('the settings of secret managers', () => {
  it('give a workspace its own path, or that of all others', () => {
    const { company } = managers(
      vault({
        workspaces: { [workspace]: { prefix: 'team-a/' }, '*': { prefix: 's/{workspace}/' } },
      }),
    )
    assert.ok(company)
    assert.equal(prefixFor(company, workspace), 'team-a/')
    assert.equal(prefixFor(company, 'wrkspc_1'), 's/wrkspc_1/')
    const { company: narrow } = withPrefix(workspace, '')
    assert.ok(narrow)
    assert.equal(prefixFor(narrow, workspace), '')
    assert.equal(prefixFor(narrow, 'wrkspc_1'), undefined)
    for (const name of ['constructor', '__proto__', 'toString'])
      assert.equal(prefixFor(narrow, name), undefined, name)
  })

  it('refuse a path that reaches into another one, and say which field is wrong', () => {
    for (const prefix of ['team-a', '/team-a/', '../', 'a/../b/', 'a//', './', 'a/%2e%2e/', 'a?b/'])
      assert.throws(
        () => withPrefix(workspace, prefix),
        /prefix: must be empty, or end with/,
        prefix,
      )
    assert.throws(() => withPrefix('*', 'all/'), /\*.*prefix: must contain \{workspace\}|contain/)
    assert.throws(() => withPrefix('acme', 'a/'), /must be the id of a workspace, or \*/)
    const azure = {
      type: 'azure',
      vault_url: 'https://v.vault.azure.net',
      workspaces: { '*': { prefix: '{workspace}-' } },
    }
    assert.throws(() => managers(azure), /takes no \{workspace\}/)
  })

  it('repeat no secret when they are refused', () => {
    for (const wrong of [
      vault({ workspaces: {}, unknown: 1 }),
      { ...vault({ workspaces: {} }), address: 'https://me:hvs.the-token-of-the-server@v.example' },
      { ...vault({ workspaces: {} }), auth: { ...auth, token_file: '/run/token' } },
      { ...vault({ workspaces: {} }), auth: { type: 'approle', role_id: 'r' } },
    ])
      assert.throws(
        () => managers(wrong),
        ({ message }: Error) => message !== '' && !message.includes('hvs.'),
      )
    assert.throws(() => parseSecretManagers('hvs.the-token-of-the-server'), /^Error: is not JSON$/)
  })

  it('name a key of a service, whose key service is one of those that are known', () => {
    const google = { type: 'google-kms', key: 'projects/p/locations/l/keyRings/r/cryptoKeys/k' }
    assert.equal(parseKeyService(JSON.stringify(google)).type, 'google-kms')
    const versioned = { ...google, key: `${google.key}/cryptoKeyVersions/1` }
    assert.throws(
      () => parseKeyService(JSON.stringify(versioned)),
      /key: must be .*without a version/,
    )
    assert.throws(() => parseKeyService('{"type":"hsm"}'), /type: must be .*vault-transit.*aws-kms/)
  })
})
