import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { systemClock } from '@steward/base/time.ts'
import { fetchWire } from '../fetch-wire.ts'
import type { StubVault } from '../stubs/stub-vault.ts'
import { startStubVault, vaultRoleId, vaultSecretId, workloadToken } from '../stubs/stub-vault.ts'
import { VaultSettings } from './settings.ts'
import { vaultUrl } from './request.ts'
import { vaultSecrets } from './vault.ts'

const soon = () => AbortSignal.timeout(10_000)

function openManager({ server }: StubVault, more: object, now = () => Date.now()) {
  const settings = VaultSettings.parse({ type: 'vault', address: server.url, ...more })
  return vaultSecrets(settings, { wire: fetchWire(fetch), clock: { ...systemClock, now } })
}

async function fileOf(text: string) {
  const folder = await mkdtemp(join(tmpdir(), 'steward-vault-'))
  const path = join(folder, 'secret')
  await writeFile(path, text)
  return { path, [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) }
}

const approle = { type: 'approle', role_id: vaultRoleId, secret_id: vaultSecretId }

describe('a sign-in at HashiCorp Vault', () => {
  it('works by each way, with files that are read at the sign-in', async () => {
    await using vault = await startStubVault()
    await using workload = await fileOf(`${workloadToken}\n`)
    await using secretId = await fileOf(`${vaultSecretId}\n`)
    await using token = await fileOf('hvs.of-an-agent\n')
    vault.put('a', { value: 'one' })
    vault.tokens.add('hvs.of-an-agent')
    for (const auth of [
      { type: 'kubernetes', role: 'steward', token_file: workload.path },
      { type: 'jwt', role: 'steward', token_file: workload.path },
      approle,
      { type: 'approle', role_id: vaultRoleId, secret_id_file: secretId.path },
      { type: 'token', token_file: token.path },
      { type: 'token', token: 'hvs.of-an-agent' },
    ]) {
      const found = await openManager(vault, { auth }).read({ name: 'a' }, soon())
      assert.deepEqual(found, { ok: true, value: 'one', version: '1' }, auth.type)
    }
  })

  it('is renewed before its token ends, and by a file that has another token by then', async () => {
    await using vault = await startStubVault()
    await using token = await fileOf('hvs.first')
    vault.put('a', { value: 'one' })
    vault.lease = 100
    let jumpMs = 0
    const now = () => Date.now() + jumpMs
    const signed = openManager(vault, { auth: approle }, now)
    await signed.read({ name: 'a' }, soon())
    jumpMs = 79_000
    await signed.read({ name: 'a' }, soon())
    assert.equal(vault.signIns(), 1)
    jumpMs = 81_000
    await signed.read({ name: 'a' }, soon())
    assert.equal(vault.signIns(), 2)

    vault.tokens.add('hvs.first')
    const byFile = openManager(vault, { auth: { type: 'token', token_file: token.path } }, now)
    assert.equal((await byFile.read({ name: 'a' }, soon())).ok, true)
    vault.tokens.clear()
    vault.tokens.add('hvs.second')
    await writeFile(token.path, 'hvs.second')
    jumpMs += 6_000
    assert.equal((await byFile.read({ name: 'a' }, soon())).ok, true)
  })

  it('says what is wrong with it, and not what is secret of it', async () => {
    await using vault = await startStubVault()
    for (const [auth, words] of [
      [{ type: 'jwt', role: 'steward', token_file: '/nowhere' }, /cannot be read from \/nowhere/],
      [{ ...approle, secret_id: 'a wrong secret' }, /refused with 400: invalid role or secret/],
      [{ type: 'token', token: 'hvs.revoked' }, /permission denied/],
    ] as const) {
      const found = await openManager(vault, { auth }).read({ name: 'a' }, soon())
      assert.ok(!found.ok)
      assert.equal(found.why, 'sign_in')
      assert.match(found.words, words)
      assert.doesNotMatch(found.words, /a wrong secret|hvs\.revoked/)
    }
  })

  it('is made in its namespace', async () => {
    await using vault = await startStubVault({ namespace: 'agents' })
    vault.put('a', { value: 'one' })
    const there = openManager(vault, { auth: approle, namespace: 'agents' })
    assert.equal((await there.read({ name: 'a' }, soon())).ok, true)
    const elsewhere = openManager(vault, { auth: approle })
    assert.equal((await elsewhere.read({ name: 'a' }, soon())).ok, false)
  })
})

describe('a key-value engine of HashiCorp Vault', () => {
  it('of the first version has fields and no versions', async () => {
    await using vault = await startStubVault()
    vault.put('a', { value: 'one' })
    const manager = openManager(vault, { auth: approle, kv: 1, mount: 'old' })
    assert.deepEqual(await manager.read({ name: 'a' }, soon()), {
      ok: true,
      value: 'one',
      version: null,
    })
    const versioned = await manager.read({ name: 'a', version: '1' }, soon())
    assert.equal(!versioned.ok && versioned.why, 'malformed')
  })

  it('is away while it is sealed', async () => {
    await using vault = await startStubVault()
    vault.put('a', { value: 'one' })
    const manager = openManager(vault, { auth: approle })
    vault.isSealed = true
    const sealed = await manager.read({ name: 'a' }, soon())
    assert.deepEqual(
      [!sealed.ok && sealed.why, !sealed.ok && sealed.words],
      ['away', 'the sign-in is answered by 503: Vault is sealed'],
    )
    vault.isSealed = false
    assert.equal((await manager.read({ name: 'a' }, soon())).ok, true)
  })

  it('is asked below its own path, whatever a name holds', () => {
    const url = vaultUrl('https://v.example/base/', 'secret/data/a%2f..?b#c/d e')
    assert.equal(url.href, 'https://v.example/base/v1/secret/data/a%252f..%3Fb%23c/d%20e')
    for (const path of ['secret/../sys', 'secret/./a', 'secret//a', 'secret/'])
      assert.throws(() => vaultUrl('https://v.example', path), /empty part or a dot/)
  })
})
