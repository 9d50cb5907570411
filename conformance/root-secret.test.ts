/** An operator changes the root secret: real processes, killed in the midst of it. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe } from 'node:test'
import { fileURLToPath } from 'node:url'
import { keyIdOf, sealUnder } from '@steward/server/ground/core/seal.ts'
import type { Sealed } from '@steward/server/ground/core/seal.ts'
import { newPostgresUrl } from '@steward/server/ground/database/fixture.ts'
import { postgresDatabase } from '@steward/server/ground/database/postgres.ts'
import { sqliteDatabase } from '@steward/server/ground/database/sqlite.ts'
import { runServer, startServer } from './process.ts'
import { adminKey, databases, rootSecret } from './service.ts'
import { verifies } from './verifies.ts'

const next = 'the root secret that comes after'
const token = 'canary-token-of-every-credential'
const main = fileURLToPath(import.meta.resolve('@steward/server/main.ts'))

for (const database of databases) {
  describe(`the root secret on ${database}`, () => {
    let folder: string
    let env: Record<string, string>
    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'steward-root-'))
      env = {
        DATA_DIR: folder,
        SANDBOX_PROVIDER: 'local',
        EGRESS_PROFILE: 'best_effort',
        ...(database === 'postgres' ? { DATABASE_URL: await newPostgresUrl() } : {}),
      }
    })
    after(() => rm(folder, { recursive: true, force: true }))

    async function put(base: string, vaults: number): Promise<void> {
      for (let n = 0; n < vaults; n++) {
        const credentials = Array.from({ length: 20 }, (_, i) => ({
          auth: { type: 'static_bearer', token, mcp_server_url: `https://h${i}.example` },
        }))
        const answer = await fetch(`${base}/v1/vaults`, {
          method: 'POST',
          headers: { 'x-api-key': adminKey },
          body: JSON.stringify({ name: `v${n}`, credentials }),
        })
        assert.equal(answer.status, 200)
      }
    }

    async function keysInUse(): Promise<Map<string, number>> {
      const opened = env['DATABASE_URL']
        ? await postgresDatabase(env['DATABASE_URL'])
        : await sqliteDatabase(join(folder, 'steward.db'), { alone: false })
      const rows = await opened.read
        .selectFrom('vault_credentials')
        .select(['tenant_id', 'id', 'sealed'])
        .execute()
      await opened.close()
      const counts = new Map<string, number>()
      const seal = sealUnder(next, [rootSecret])
      for (const { tenant_id, id, sealed } of rows) {
        const value = (JSON.parse(sealed ?? '{}') as { token: Sealed }).token
        assert.equal(seal.open(value, `${tenant_id}/vault_credentials/${id}/token`), token)
        counts.set(keyIdOf(value), (counts.get(keyIdOf(value)) ?? 0) + 1)
      }
      return counts
    }

    /** Kills the command at its first sign of progress. */
    async function killedRotation(of: Record<string, string>): Promise<void> {
      const child = spawn(process.execPath, [main, 'rotate-root-secret'], {
        env: { PATH: process.env['PATH'], ...of },
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const ended = once(child, 'close')
      await Promise.race([once(child.stdout, 'data'), ended])
      child.kill('SIGKILL')
      await ended
    }

    verifies(
      ['secrets/root-rotation', 'secrets/other-root', 'secrets/key-id'],
      'gives way to another while a server runs, also when the command is killed in the midst',
      async () => {
        const both = {
          ...env,
          PLATFORM_ROOT_SECRET: next,
          PLATFORM_ROOT_SECRET_PREVIOUS: rootSecret,
        }
        const vaults = 30
        await using old = await startServer(env)
        await put(old.base, vaults)
        const early = await runServer(['rotate-root-secret'], both)
        assert.notEqual(early.code, 0, 'the running server seals under the old secret')
        assert.match(early.stderr, /restart/)
        await old.kill()

        const blind = await runServer([], { ...env, PLATFORM_ROOT_SECRET: next })
        assert.notEqual(blind.code, 0)
        assert.match(blind.stderr, /PLATFORM_ROOT_SECRET_PREVIOUS/)

        await using server = await startServer(both)
        await killedRotation(both)
        const [before, after] = [sealUnder(rootSecret).keyId, sealUnder(next).keyId]
        assert.ok(((await keysInUse()).get(after) ?? 0) > 0)
        const half = await runServer(['rotate-root-secret'], env)
        assert.notEqual(half.code, 0, 'the old secret alone no longer suffices')
        const [done] = await Promise.all([
          runServer(['rotate-root-secret'], both),
          put(server.base, 2),
        ])
        assert.equal(done.code, 0, done.stderr)
        assert.match(done.stdout, new RegExp(after))
        const told = [early, blind, half, done].map(({ stdout, stderr }) => stdout + stderr).join()
        for (const secret of [rootSecret, next, token]) assert.ok(!told.includes(secret))
        const counts = await keysInUse()
        assert.deepEqual([counts.get(before), counts.get(after)], [undefined, 20 * (vaults + 2)])
        await server.kill()

        const gone = await runServer([], env)
        assert.notEqual(gone.code, 0)
        await using alone = await startServer({ ...env, PLATFORM_ROOT_SECRET: next })
        await put(alone.base, 1)
      },
    )
  })
}
