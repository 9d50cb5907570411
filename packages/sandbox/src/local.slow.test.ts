import assert from 'node:assert/strict'
import { it } from 'node:test'
import { sandboxContract } from './contract.ts'
import { localSandboxes } from './local.ts'

sandboxContract('local', localSandboxes, { module: import.meta.resolve('./local.ts') })

it('promises no isolation', async () => {
  const isolation = { level: 'none', network: 'host', gate: false, limits: 'none', users: 'shared' }
  assert.deepEqual(await localSandboxes().check(), { ok: true, isolation })
})
