/** An operator changes the root secret: real processes are killed during the change. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe } from 'node:test'
import { flagsOfNode, programPath } from '@steward/base/program-fixture.ts'
import { isUnderRoot, keyIdOf, createSeal } from '@steward/server/ground/core/security/seal.ts'
import type { Sealed } from '@steward/server/ground/core/security/seal.ts'
import { toJson } from '@steward/server/ground/core/text/json-text.ts'
import type { Database } from '@steward/server/ground/database/database.ts'
import { newPostgresUrl } from '@steward/server/ground/database/fixture.ts'
import { postgresDatabase } from '@steward/server/ground/database/postgres.ts'
import { sqliteDatabase } from '@steward/server/ground/database/sqlite.ts'
import { workspaceKeys, workspaceKeyStore } from '@steward/server/ground/database/workspace-keys.ts'
import { systemClock } from '@steward/base/time.ts'
import type { StubVault } from '@steward/secret-managers/stubs/stub-vault.ts'
import { startStubVault } from '@steward/secret-managers/stubs/stub-vault.ts'
import { keyServiceOf, wrappedBy } from './key-service.ts'
import { runServer, startServer } from './process.ts'
import { adminKey, rootSecret, scenarioDatabases } from './service.ts'
import { verifies } from './verifies.ts'

const next = 'the root secret that comes after'
const token = 'canary-token-of-every-credential'
const main = programPath(import.meta.resolve('@steward/server/main.ts'))

const ways = ['in the clear', 'by a key service'] as const

/** The settings of a root secret in the clear. */
const inTheClear = (secret: string, previous?: string) => ({
  PLATFORM_ROOT_SECRET: secret,
  ...(previous === undefined ? {} : { PLATFORM_ROOT_SECRET_PREVIOUS: previous }),
})

for (const database of scenarioDatabases(import.meta.filename)) {
  for (const way of ways) describeRootSecret(database, way)
}

function describeRootSecret(
  database: ReturnType<typeof scenarioDatabases>[number],
  way: (typeof ways)[number],
): void {
  describe(`the root secret ${way} on ${database}`, () => {
    let folder: string
    let service: StubVault | undefined
    /** Settings with the secrets as the way has them. */
    let given = inTheClear
    let env: Record<string, string>
    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'steward-root-'))
      env = {
        DATA_DIR: folder,
        SANDBOX_PROVIDER: 'local',
        EGRESS_PROFILE: 'best_effort',
        ...(database === 'postgres' ? { DATABASE_URL: await newPostgresUrl() } : {}),
      }
      if (way === 'in the clear') return
      service = await startStubVault()
      env = { ...env, ...keyServiceOf(service) }
      const wrapped = new Map<string, string>()
      for (const secret of [rootSecret, next]) wrapped.set(secret, await wrappedBy(secret, env))
      const of = (secret: string) => wrapped.get(secret) ?? ''
      given = (secret, previous) => inTheClear(of(secret), previous && of(previous))
      env = { ...env, ...given(rootSecret) }
    })
    after(async () => {
      await service?.[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    })

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

    const opened = async () =>
      env['DATABASE_URL']
        ? postgresDatabase(env['DATABASE_URL'])
        : sqliteDatabase(join(folder, 'steward.db'), { alone: false })

    const rowsOf = ({ read }: Database) =>
      read.selectFrom('vault_credentials').select(['tenant_id', 'id', 'sealed']).execute()

    const tokenOf = (sealed: string | null): Sealed =>
      (JSON.parse(sealed ?? '{}') as { token: Sealed }).token
    const contextOf = (tenant: string, id: string) => `${tenant}/vault_credentials/${id}/token`

    /** Counts the credentials by the root key that seals them, directly or through the key of their workspace. */
    async function keysInUse(): Promise<Map<string, number>> {
      const database = await opened()
      const keys = workspaceKeys(database, createSeal(next, [rootSecret]), systemClock)
      const counts = new Map<string, number>()
      for (const { tenant_id, id, sealed } of await rowsOf(database)) {
        await keys.hold(tenant_id)
        const value = tokenOf(sealed)
        assert.equal(keys.seal.open(value, contextOf(tenant_id, id)), token)
        const key = await workspaceKeyStore(database.read).find(tenant_id)
        const root = keyIdOf(isUnderRoot(value) || !key ? value : key.sealed)
        counts.set(root, (counts.get(root) ?? 0) + 1)
      }
      await database.close()
      return counts
    }

    /** Seals the credentials directly under the root secret, without keys of workspaces. */
    async function sealUnderRoot(): Promise<void> {
      const database = await opened()
      const rows = await rowsOf(database)
      await database.write(async (tx) => {
        for (const { tenant_id, id } of rows)
          await tx
            .updateTable('vault_credentials')
            .set({
              sealed: toJson({
                token: createSeal(rootSecret).seal(token, contextOf(tenant_id, id)),
              }),
            })
            .where('id', '=', id)
            .execute()
      })
      await database.close()
    }

    /** Kills the command after it has sealed some credentials again. */
    async function killedRotation(of: Record<string, string>): Promise<void> {
      const child = spawn(process.execPath, [...flagsOfNode, main, 'rotate-root-secret'], {
        env: { PATH: process.env['PATH'], ...of },
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const ended = once(child, 'close')
      const progress = new Promise<void>((resolve) =>
        child.stdout.on('data', (text: Buffer) => {
          if (text.includes('vault_credentials')) resolve()
        }),
      )
      await Promise.race([progress, ended])
      child.kill('SIGKILL')
      await ended
    }

    verifies(
      ['secrets/root-rotation', 'secrets/other-root', 'secrets/key-id', 'secrets/key-service'],
      'gives way to another while a server runs, also when the command is killed in the midst',
      async () => {
        const both = { ...env, ...given(next, rootSecret) }
        const vaults = 30
        await using old = await startServer(env)
        await put(old.base, vaults)
        const early = await runServer(['rotate-root-secret'], both)
        assert.notEqual(early.code, 0, 'the running server seals under the old secret')
        assert.match(early.stderr, /restart/)
        await old.kill()
        await sealUnderRoot()

        const blind = await runServer([], { ...env, ...given(next) })
        assert.notEqual(blind.code, 0)
        assert.match(blind.stderr, /PLATFORM_ROOT_SECRET_PREVIOUS/)

        await using server = await startServer(both)
        await killedRotation(both)
        const [before, after] = [createSeal(rootSecret).keyId, createSeal(next).keyId]
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
        await using alone = await startServer({ ...env, ...given(next) })
        await put(alone.base, 1)
      },
    )
  })
}
