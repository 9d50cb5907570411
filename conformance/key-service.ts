/** A root secret by the key service of a stand-in of HashiCorp Vault. */
import assert from 'node:assert/strict'
import type { StubVault } from '@steward/secret-managers/stubs/stub-vault.ts'
import { vaultRoleId, vaultSecretId } from '@steward/secret-managers/stubs/stub-vault.ts'
import { runServer } from './process.ts'

/** The settings of a server that uses the key. */
export const keyServiceOf = ({ server }: StubVault) => ({
  EGRESS_ALLOW_PRIVATE: '127.0.0.0/8',
  PLATFORM_ROOT_SECRET_KEY_SERVICE: JSON.stringify({
    type: 'vault-transit',
    address: server.url,
    key: 'steward',
    auth: { type: 'approle', role_id: vaultRoleId, secret_id: vaultSecretId },
  }),
})

/** What the operator's command prints for a secret. */
export async function wrappedBy(secret: string, env: Record<string, string>): Promise<string> {
  const { code, stdout, stderr } = await runServer(['wrap-root-secret'], {
    ...env,
    PLATFORM_ROOT_SECRET: secret,
  })
  assert.equal(code, 0, stderr)
  const text = stdout.trim()
  assert.match(text, /^wrapped\.v1\.[\w-]+$/)
  for (const each of [stdout, stderr]) assert.ok(!each.includes(secret))
  return text
}
