import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { CredentialAuth } from '@steward/protocol/vaults.ts'
import { newDestinations } from './destinations.ts'

const command = (...command_prefixes: string[]): CredentialAuth => ({
  ...{ type: 'command_secret', env_var: 'A_TOKEN', command_prefixes },
})
const variable = (
  hosts: string[] | null,
  injection_location = { header: true, body: false },
): CredentialAuth => ({
  type: 'environment_variable',
  secret_name: 'A_TOKEN',
  networking: hosts === null ? { type: 'unrestricted' } : { type: 'limited', allowed_hosts: hosts },
  injection_location,
})
const fieldsOf = (kept: CredentialAuth, auth: CredentialAuth, secrets = {}) =>
  newDestinations(kept, { auth, secrets, dropped: [] }, 'auth').map(({ field }) => field)

describe('a stored secret goes further', () => {
  it('when a command that it was not given to would get it', () => {
    const kept = command('git push', 'npm')
    for (const wider of [command(), command('git'), command('git push', 'np'), command('curl')])
      assert.deepEqual(fieldsOf(kept, wider), ['auth.command_prefixes'])
    for (const narrower of [
      command('npm publish'),
      command('git push'),
      command('git push origin'),
    ])
      assert.deepEqual(fieldsOf(kept, narrower), [])
    assert.deepEqual(fieldsOf(command(), command('git')), [])
    assert.deepEqual(fieldsOf(kept, command(), { token: 'again' }), [])
  })

  it('when a host that it was not for would get it', () => {
    const kept = variable(['api.example.com', '*.Example.org'])
    const wider = [
      ...[variable(null), variable(['example.com']), variable(['*.example.com'])],
      ...[variable(['example.org']), variable(['api.example.com', 'x.badexample.org'])],
    ]
    for (const each of wider) assert.deepEqual(fieldsOf(kept, each), ['auth.networking'])
    const narrower = [['API.example.com'], ['a.example.org'], ['*.b.example.org'], []]
    for (const hosts of narrower) assert.deepEqual(fieldsOf(kept, variable(hosts)), [])
    assert.deepEqual(fieldsOf(variable(null), variable(['any.example'])), [])
    assert.deepEqual(fieldsOf(kept, variable(null), { secret_value: 'again' }), [])
  })

  it('when it would be in another part of a request', () => {
    const both = { header: true, body: true }
    assert.deepEqual(fieldsOf(variable([]), variable([], both)), ['auth.injection_location'])
    assert.deepEqual(fieldsOf(variable([], both), variable([])), [])
  })
})
