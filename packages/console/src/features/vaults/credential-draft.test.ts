import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { VaultCredential } from '../../lib/api/types.ts'
import {
  changeBody,
  createBody,
  draftOf,
  newCredential,
  referenceOf,
  rotateBody,
  withoutSecrets,
} from './credential-draft.ts'
import { stateOf } from './credential-state.ts'

const time = '2026-11-01T00:00:00Z'
const facts = {
  id: 'vcrd_1',
  type: 'vault_credential',
  vault_id: 'vlt_1',
  display_name: null,
  metadata: {},
  archived_at: null,
  created_at: time,
  updated_at: time,
} as const
const variable: VaultCredential = {
  ...facts,
  auth: {
    type: 'environment_variable',
    secret_name: 'API_TOKEN',
    networking: { type: 'limited', allowed_hosts: ['api.example.com'] },
    injection_location: { header: true, body: true },
  },
}
const oauth: VaultCredential = {
  ...facts,
  auth: {
    type: 'mcp_oauth',
    mcp_server_url: 'https://mcp.example.com/mcp',
    expires_at: '2026-11-20T00:00:00Z',
    refresh: null,
  },
}
const use = {
  id: 'use_1',
  type: 'credential_use',
  session_id: 'sesn_1',
  vault_id: 'vlt_1',
  credential_id: 'vcrd_1',
  caller: 'http',
  server: 'x',
  host: 'api.example.com',
  method: 'GET',
  status: 401,
  refreshed: false,
  ms: 12,
  actor: null,
  on_behalf_of: null,
  created_at: '2026-11-02T00:00:00Z',
} as const

void describe('the form of a credential', () => {
  void it('sends the fields of its type alone', () => {
    const draft = { ...newCredential, secret: 'geheim', server: ' https://mcp.example.com/mcp ' }
    assert.deepEqual(createBody(draft), {
      auth: {
        type: 'static_bearer',
        mcp_server_url: 'https://mcp.example.com/mcp',
        token: 'geheim',
      },
    })
  })

  void it('names a secret of a secret manager, and nothing that was typed before', () => {
    const referred = {
      ...newCredential,
      isReferred: true,
      secret: 'geheim',
      manager: ' vault ',
      secretName: 'github',
    }
    const token = { type: 'secret_reference', manager: 'vault', name: 'github' } as const
    assert.deepEqual(createBody(referred).auth, {
      type: 'static_bearer',
      mcp_server_url: '',
      token,
    })
    const shown = withoutSecrets(createBody({ ...referred, secretField: 'token' }))
    assert.match(JSON.stringify(shown), /"name":"github","field":"token"/)
    const auth = { type: 'static_bearer', mcp_server_url: 'https://a.example', token } as const
    assert.equal(referenceOf(auth), 'vault · github')
    assert.equal(referenceOf(variable.auth), undefined)
  })

  void it('shows no secret of what it sends, at any depth', () => {
    const draft = {
      ...newCredential,
      type: 'mcp_oauth' as const,
      secret: 'geheim-1',
      refreshToken: 'geheim-2',
      clientAuth: 'client_secret_post' as const,
      clientSecret: 'geheim-3',
    }
    assert.match(JSON.stringify(createBody(draft)), /geheim-1.*geheim-2.*geheim-3/)
    assert.doesNotMatch(JSON.stringify(withoutSecrets(createBody(draft))), /geheim/)
    assert.doesNotMatch(JSON.stringify(withoutSecrets(rotateBody(draft))), /geheim/)
  })

  void it('changes what differs, and gives the secret again where it was typed', () => {
    const before = draftOf(variable)
    assert.deepEqual(changeBody(before, before), {})
    assert.deepEqual(changeBody(before, { ...before, name: 'tracker' }), {
      display_name: 'tracker',
    })
    assert.deepEqual(
      changeBody(before, { ...before, hosts: 'api.example.com, *.example.org', secret: 'geheim' }),
      {
        auth: {
          type: 'environment_variable',
          networking: { type: 'limited', allowed_hosts: ['api.example.com', '*.example.org'] },
          secret_value: 'geheim',
        },
      },
    )
  })
})

void describe('the state of a credential', () => {
  const at = (text: string) => Date.parse(text)

  void it('is by its last call, until the secret was changed', () => {
    assert.equal(stateOf(variable, undefined, at(time)), 'unused')
    assert.equal(stateOf(variable, use, at(time)), 'refused')
    assert.equal(stateOf(variable, { ...use, status: 200 }, at(time)), 'works')
    assert.equal(stateOf(variable, { ...use, status: 503 }, at(time)), 'used')
    const rotated = { ...variable, updated_at: '2026-11-03T00:00:00Z' }
    assert.equal(stateOf(rotated, use, at(time)), 'used')
  })

  void it('says when a token ends that nobody renews', () => {
    assert.equal(stateOf(oauth, undefined, at('2026-11-01T00:00:00Z')), 'unused')
    assert.equal(stateOf(oauth, undefined, at('2026-11-10T00:00:00Z')), 'ending')
    assert.equal(stateOf(oauth, undefined, at('2026-11-21T00:00:00Z')), 'ended')
  })
})
