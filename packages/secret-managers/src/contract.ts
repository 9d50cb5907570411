/** For tests: what every secret manager and every key service does, on a server that verifies who asks. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { KeyService } from './key-service.ts'
import type { SecretManager } from './secret-manager.ts'
import type { StubManager } from './stubs/stub-manager.ts'

export type TestManager = AsyncDisposable & {
  manager: SecretManager
  server: StubManager
  /** Puts a version of a secret, and returns what the manager calls that version. */
  put: (name: string, value: string) => string
  remove: (name: string) => void
  deny: (name: string) => void
  /** Ends the right by which the client reads. A new sign-in works. */
  revoke: () => void
  /** Each later sign-in is refused too. */
  refuse: () => void
  signIns: () => number
  /** What no message may hold. */
  secrets: () => readonly string[]
}

const soon = () => AbortSignal.timeout(10_000)

async function failureOf(reading: ReturnType<SecretManager['read']>) {
  const found = await reading
  return found.ok ? assert.fail('a secret was read') : found
}

export function testSecretManager(what: string, open: () => Promise<TestManager>): void {
  describe(`a secret in ${what}`, () => {
    it('is read by its name, in the newest version or in one that is named', async () => {
      await using test = await open()
      const first = test.put('github', 'first')
      const second = test.put('github', 'second')
      const { manager } = test
      assert.deepEqual(await manager.read({ name: 'github' }, soon()), {
        ok: true,
        value: 'second',
        version: second,
      })
      const before = await manager.read({ name: 'github', version: first }, soon())
      assert.deepEqual(before, { ok: true, value: 'first', version: first })
    })

    it('is another one at the next read when it was rotated', async () => {
      await using test = await open()
      test.put('github', 'before')
      const first = await test.manager.read({ name: 'github' }, soon())
      test.put('github', 'after')
      const second = await test.manager.read({ name: 'github' }, soon())
      assert.deepEqual([first.ok && first.value, second.ok && second.value], ['before', 'after'])
    })

    it('is missing, or denied, and the two differ', async () => {
      await using test = await open()
      test.put('github', 'a value that is hidden')
      test.deny('github')
      const denied = await failureOf(test.manager.read({ name: 'github' }, soon()))
      const missing = await failureOf(test.manager.read({ name: 'gitlab' }, soon()))
      assert.deepEqual([denied.why, missing.why], ['denied', 'missing'])
    })

    it('is missing when its newest version was removed', async () => {
      await using test = await open()
      test.put('github', 'a value')
      test.remove('github')
      assert.equal((await failureOf(test.manager.read({ name: 'github' }, soon()))).why, 'missing')
    })

    it('is away when its manager is silent, broken or failing, and read again once it is back', async () => {
      await using test = await open()
      test.put('github', 'a value')
      const { manager, server } = test
      for (const mood of ['silent', 'broken', 'failing'] as const) {
        server.mood = mood
        const asked = server.requests.length
        const signal = mood === 'silent' ? AbortSignal.timeout(300) : soon()
        const failed = await failureOf(manager.read({ name: 'github' }, signal))
        assert.equal(failed.why, 'away', mood)
        const most = mood === 'silent' ? 1 : 2
        assert.ok(server.requests.length - asked <= most, `${mood}: asks at most twice`)
      }
      server.mood = 'well'
      assert.equal((await manager.read({ name: 'github' }, soon())).ok, true)
    })

    it('is read by one new sign-in when the right of the server was revoked', async () => {
      await using test = await open()
      test.put('github', 'a value')
      assert.equal((await test.manager.read({ name: 'github' }, soon())).ok, true)
      test.revoke()
      assert.equal((await test.manager.read({ name: 'github' }, soon())).ok, true)
    })

    it('is not read by a server that the manager does not accept, and no message holds a secret', async () => {
      await using test = await open()
      test.put('github', 'a value that is hidden')
      test.refuse()
      const failed = await failureOf(test.manager.read({ name: 'github' }, soon()))
      assert.match(failed.why, /^(sign_in|denied)$/)
      for (const secret of [...test.secrets(), 'a value that is hidden'])
        assert.ok(!failed.words.includes(secret))
    })

    it('shares a sign-in between reads at the same time', async () => {
      await using test = await open()
      for (const name of ['a', 'b', 'c', 'd']) test.put(name, 'a value')
      const names = ['a', 'b', 'c', 'd']
      const all = await Promise.all(names.map((name) => test.manager.read({ name }, soon())))
      assert.ok(all.every(({ ok }) => ok))
      assert.ok(test.signIns() <= 1, `${test.signIns()} sign-ins`)
    })

    it('is refused when it is too large', async () => {
      await using test = await open()
      test.put('large', 'x'.repeat(70_000))
      test.put('huge', 'x'.repeat(400_000))
      for (const name of ['large', 'huge'])
        assert.equal((await failureOf(test.manager.read({ name }, soon()))).why, 'too_large')
    })
  })
}

export type TestKeyService = AsyncDisposable & { service: KeyService; server: StubManager }

export function testKeyService(what: string, open: () => Promise<TestKeyService>): void {
  describe(`a root secret under ${what}`, () => {
    const secret = Buffer.from('0123456789abcdef'.repeat(4))

    it('is wrapped and unwrapped, and is not in the wrapped text', async () => {
      await using test = await open()
      const wrapped = await test.service.wrap(secret, soon())
      assert.ok(wrapped.ok)
      assert.ok(!wrapped.wrapped.includes(secret.toString()))
      assert.ok(!wrapped.wrapped.includes(secret.toString('base64')))
      const unwrapped = await test.service.unwrap(wrapped.wrapped, soon())
      assert.deepEqual(unwrapped, { ok: true, secret })
    })

    it('does not come out of a text that was changed', async () => {
      await using test = await open()
      const wrapped = await test.service.wrap(secret, soon())
      assert.ok(wrapped.ok)
      const at = wrapped.wrapped.length - 12
      const other = wrapped.wrapped[at] === 'A' ? 'B' : 'A'
      const changed = wrapped.wrapped.slice(0, at) + other + wrapped.wrapped.slice(at + 1)
      for (const text of [changed, 'nothing of the kind'])
        assert.equal((await test.service.unwrap(text, soon())).ok, false)
    })

    it('is not to be had while the service is away', async () => {
      await using test = await open()
      const wrapped = await test.service.wrap(secret, soon())
      assert.ok(wrapped.ok)
      for (const mood of ['broken', 'failing'] as const) {
        test.server.mood = mood
        const failed = await test.service.unwrap(wrapped.wrapped, soon())
        assert.equal(!failed.ok && failed.why, 'away', mood)
      }
    })
  })
}
