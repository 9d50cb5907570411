/** A server whose root secret a key service unwraps. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe } from 'node:test'
import type { StubVault } from '@steward/secret-managers/stubs/stub-vault.ts'
import { startStubVault } from '@steward/secret-managers/stubs/stub-vault.ts'
import { keyServiceOf, wrappedBy } from './key-service.ts'
import { runServer, startServer } from './process.ts'
import { rootSecret } from './service.ts'
import { verifies } from './verifies.ts'

describe('a root secret by a key service', () => {
  let folder: string
  let service: StubVault
  let env: Record<string, string>
  let wrapped: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'steward-key-service-'))
    service = await startStubVault()
    const usual = { DATA_DIR: folder, SANDBOX_PROVIDER: 'none', ...keyServiceOf(service) }
    wrapped = await wrappedBy(rootSecret, usual)
    env = { ...usual, PLATFORM_ROOT_SECRET: wrapped }
  })
  after(async () => {
    await service[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  })

  verifies(
    ['secrets/key-service', 'secrets/key-service-wraps', 'settings/root-secret-key-service'],
    'is unwrapped at each start, and nothing is used instead of it',
    async () => {
      const server = await startServer(env)
      const key = server.said()
      await server.kill()
      assert.ok(!key.includes(rootSecret))

      // The same secret opens the same database: in the clear, and under the key.
      const { PLATFORM_ROOT_SECRET_KEY_SERVICE: _, ...clear } = env
      await using plain = await startServer({ ...clear, PLATFORM_ROOT_SECRET: rootSecret })
      await plain.kill()

      service.rotateKey()
      await using again = await startServer(env)
      await again.kill()

      const mixed = await runServer([], { ...env, PLATFORM_ROOT_SECRET: rootSecret })
      assert.notEqual(mixed.code, 0)
      assert.match(mixed.stderr, /holds the secret itself.*wrap-root-secret/)
      const alone = await runServer([], { ...clear, PLATFORM_ROOT_SECRET: wrapped })
      assert.notEqual(alone.code, 0)
      assert.match(
        alone.stderr,
        /PLATFORM_ROOT_SECRET is wrapped.*PLATFORM_ROOT_SECRET_KEY_SERVICE/,
      )
      for (const { stdout, stderr } of [mixed, alone])
        assert.ok(!(stdout + stderr).includes(rootSecret))
    },
  )

  verifies(
    ['secrets/key-service'],
    'lets no server start without the service, which is asked again while it is away',
    async () => {
      service.isSealed = true
      const none = await runServer([], env)
      assert.notEqual(none.code, 0)
      assert.match(none.stderr, /does not unwrap the root secret: .*Vault is sealed/)
      const starting = startServer(env)
      setTimeout(() => void (service.isSealed = false), 2_500)
      await using server = await starting
      await server.kill()

      const other = await startStubVault()
      const foreign = await runServer([], { ...env, ...keyServiceOf(other) })
      await other[Symbol.asyncDispose]()
      assert.notEqual(foreign.code, 0)
      assert.match(foreign.stderr, /does not unwrap the root secret: .*authentication failed/)
    },
  )

  verifies(
    ['secrets/key-service'],
    'is examined by the doctor, as are secret managers',
    async () => {
      const vault = { type: 'vault', address: service.server.url }
      const auth = JSON.parse(env['PLATFORM_ROOT_SECRET_KEY_SERVICE'] ?? '').auth as object
      const SECRET_MANAGERS = JSON.stringify({
        company: { ...vault, auth, workspaces: { '*': { prefix: '{workspace}/' } } },
        wrong: { ...vault, auth: { type: 'token', token: 'hvs.wrong-token' }, workspaces: {} },
      })
      const sound = await runServer(['doctor'], { ...env, SECRET_MANAGERS })
      assert.match(sound.stdout, /✓ root secret: the key service unwraps it/)
      assert.match(sound.stdout, /✓ secret manager company: it answers/)
      assert.match(sound.stdout, /✗ secret manager wrong: permission denied/)
      service.isSealed = true
      const broken = await runServer(['doctor'], { ...env, SECRET_MANAGERS })
      service.isSealed = false
      assert.equal(broken.code, 1)
      assert.match(broken.stdout, /✗ root secret: the key service of .*Vault is sealed/)
      assert.match(broken.stdout, /✗ secret manager company: .*Vault is sealed/)
      for (const { stdout, stderr } of [sound, broken])
        assert.ok(!(stdout + stderr).includes(rootSecret))
    },
  )
})
