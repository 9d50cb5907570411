import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { CredentialUse } from '../../lib/api/types.ts'
import { groupsOf } from './credential-groups.ts'

const use = (credential_id: string | null, host: string, status: number | null) =>
  ({ credential_id, host, status }) as CredentialUse

void describe('calls that carried a credential', () => {
  void it('are counted by credential and host, with the newest answer', () => {
    const uses = [
      use('vcrd_1', 'shop.example', null),
      use('vcrd_2', 'shop.example', 401),
      use('vcrd_1', 'shop.example', 200),
      use('vcrd_1', 'bank.example', null),
      use('vcrd_1', 'shop.example', 500),
      use(null, 'shop.example', 200),
    ]
    assert.deepEqual(
      groupsOf(uses).map(({ last, status, calls }) => [
        last.credential_id,
        last.host,
        status,
        calls,
      ]),
      [
        ['vcrd_1', 'shop.example', 200, 3],
        ['vcrd_2', 'shop.example', 401, 1],
        ['vcrd_1', 'bank.example', null, 1],
        [null, 'shop.example', 200, 1],
      ],
    )
  })
})
