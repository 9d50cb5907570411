/** `npm start -- doctor`: what it finds, what it says to do, and that it changes nothing. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chmod, cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe } from 'node:test'
import { createSqliteFile, postgresServer } from '@steward/server/ground/database/fixture.ts'
import { bedrockDialect } from '@steward/model/stubs/stub-bedrock.ts'
import { startStub } from '@steward/model/stubs/stub-server.ts'
import { mailServer } from './mail-server.ts'
import { runServer, startServer } from './process.ts'
import { verifies } from './verifies.ts'

describe('the doctor', () => {
  let folder: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'steward-doctor-'))
  })
  after(() => rm(folder, { recursive: true, force: true }))

  const examine = (dataDir: string, env: Record<string, string | undefined> = {}) =>
    runServer(['doctor'], {
      ...{ SANDBOX_PROVIDER: 'local', EGRESS_PROFILE: 'best_effort', DATA_DIR: dataDir },
      ...env,
    })

  /** Creates a folder for one test. */
  async function made(name: string): Promise<string> {
    const path = join(folder, name)
    await mkdir(path)
    return path
  }

  verifies(
    'running/doctor',
    'finds nothing wrong before the first start, and changes nothing',
    async () => {
      const data = await made('new')
      const { code, stdout, stderr } = await examine(data)
      assert.equal(code, 0, stdout + stderr)
      assert.match(stdout, /^✓ settings: /m)
      assert.match(stdout, /^✓ database: SQLite, .* is made at the first start$/m)
      assert.match(stdout, /^✓ disk: .* is on disk after [\d.]+ ms$/m)
      assert.match(stdout, /^✓ sandboxes: one of local starts \(.*users shared.*\)$/m)
      assert.doesNotMatch(stdout, /✗/)
      assert.deepEqual(await readdir(data), [])
    },
  )

  verifies('running/doctor', 'changes nothing of a database that no server has open', async () => {
    const data = await made('stopped')
    const server = await startServer({
      ...{ DATA_DIR: data, SANDBOX_PROVIDER: 'local', EGRESS_PROFILE: 'best_effort' },
    })
    await server.stop()
    const before = await readdir(data)
    const { code, stdout } = await examine(data)
    assert.equal(code, 0, stdout)
    assert.match(stdout, /^✓ root secret: the one of this database$/m)
    assert.deepEqual(await readdir(data), before)
  })

  verifies(
    'running/doctor',
    'runs beside a server, and sees what that server has made',
    async () => {
      const data = await made('running')
      const env = { DATA_DIR: data, SANDBOX_PROVIDER: 'local', EGRESS_PROFILE: 'best_effort' }
      await using server = await startServer(env)
      const { code, stdout } = await examine(data, { PORT: new URL(server.base).port })
      assert.equal(code, 0, stdout)
      assert.match(stdout, /^✓ tables: as this version has them$/m)
      assert.match(stdout, /^✓ root secret: the one of this database$/m)
      assert.match(stdout, /^! address: .*EADDRINUSE/m)
      const wrong = await examine(data, { PLATFORM_ROOT_SECRET: 'another secret of some length' })
      assert.equal(wrong.code, 1)
      assert.match(
        wrong.stdout,
        /^✗ root secret: .*\n    to mend it: .*PLATFORM_ROOT_SECRET_PREVIOUS/m,
      )
      assert.ok(!wrong.stdout.includes('another secret'))
    },
  )

  verifies(
    'running/doctor',
    'distinguishes a database of a newer version from one of a version that is too old',
    async () => {
      const data = await made('migrations')
      const path = join(data, 'steward.db')
      await cp(await createSqliteFile(data), path).catch(() => {})
      const db = new DatabaseSync(path)
      db.exec(`insert into kysely_migration values ('9999-later', '2030-01-01T00:00:00Z')`)
      const newer = await examine(data)
      assert.equal(newer.code, 1)
      assert.match(newer.stdout, /^✗ tables: a version newer than this one .*9999-later/m)
      db.exec(`update kysely_migration set name = '0001-schema' where name = '0001-tables'`)
      db.exec(`delete from kysely_migration where name = '9999-later'`)
      db.close()
      const older = await examine(data)
      assert.equal(older.code, 1)
      assert.match(older.stdout, /^✗ tables: those of a version before commit [0-9a-f]{7}/m)
    },
  )

  verifies(
    'running/doctor',
    'names a Postgres, a NATS and a mail server that do not answer, and hides their passwords',
    async () => {
      const { code, stdout } = await examine(await made('away'), {
        DATABASE_URL: 'postgres://steward:hunter22@127.0.0.1:1/steward',
        BUS_URL: 'nats://steward:hunter22@127.0.0.1:1',
        SMTP_URL: 'smtp://steward:hunter22@127.0.0.1:1',
        DATABASE_CONNECT_SECONDS: '2',
      })
      assert.equal(code, 1)
      assert.match(
        stdout,
        /^✗ database: Postgres, no connection: .*\n    to mend it: .*DATABASE_URL/m,
      )
      assert.match(stdout, /^✗ bus: no connection: .*\n    to mend it: .*BUS_URL/m)
      assert.match(stdout, /^✗ mail: .*ECONNREFUSED.*\n    to mend it: .*SMTP_URL/m)
      assert.ok(!stdout.includes('hunter22'))
    },
  )

  verifies(
    'running/doctor',
    'names a bucket that does not answer, or may not be asked, and hides its key',
    async () => {
      const data = await made('bucket')
      const asked = (env: Record<string, string> = {}) =>
        examine(data, {
          STORE_BACKENDS: JSON.stringify({
            blobs: {
              ...{ type: 's3', endpoint: 'http://127.0.0.1:1', bucket: 'blobs', region: 'here' },
              ...{ access_key_id: 'steward', secret_access_key: 'hunter22' },
            },
          }),
          ...env,
        })
      const away = await asked({ EGRESS_ALLOW_PRIVATE: '127.0.0.0/8' })
      const refused = await asked()
      for (const { code, stdout, stderr } of [away, refused]) {
        assert.equal(code, 1, stderr)
        assert.match(stdout, /^✗ bucket: .*\n    to mend it: .*STORE_BACKENDS/m)
        assert.ok(!`${stdout}${stderr}`.includes('hunter22'))
      }
      assert.match(away.stdout, /^✗ bucket: .*ECONNREFUSED/m)
      assert.match(refused.stdout, /^✗ bucket: .*127\.0\.0\.1/m)
    },
  )

  verifies('running/doctor', 'shows its name to the mail server, and sends nothing', async () => {
    await using server = await mailServer()
    const { stdout } = await examine(await made('mail'), { SMTP_URL: server.url })
    assert.match(stdout, /^✓ mail: the mail server answers$/m)
    assert.deepEqual(server.letters, [])
  })

  verifies(
    'running/doctor',
    'asks Postgres for its version, its connections and its clock',
    async () => {
      const { stdout } = await examine(await made('postgres'), {
        DATABASE_URL: await postgresServer(),
      })
      assert.match(stdout, /^✓ database: Postgres \d+.*, \d+ of \d+ connections are free$/m)
      assert.match(stdout, /^✓ clock: \d+ ms from the one of Postgres$/m)
      assert.match(stdout, /^✓ tables: made at the first start$/m)
    },
  )

  verifies(
    'running/doctor',
    'shows each key to its provider, and says which is refused',
    async () => {
      const provider = createServer(({ headers }, response) => {
        const isKnown = headers.authorization === 'Bearer good-key'
        response.setHeader('date', new Date(Date.now() - 600_000).toUTCString())
        response.writeHead(isKnown ? 200 : 401).end('{}')
      }).listen(0, '127.0.0.1')
      await once(provider, 'listening')
      const { port } = provider.address() as AddressInfo
      const data = await made('models')
      const env = {
        OPENAI_API_KEY: 'good-key',
        OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`,
        EGRESS_ALLOW_PRIVATE: '127.0.0.0/8',
      }
      try {
        const taken = await examine(data, env)
        assert.match(taken.stdout, /^✓ models: 127\.0\.0\.1:\d+ takes OPENAI_API_KEY$/m)
        assert.match(taken.stdout, /^✗ clock: 60\d s from the one of 127/m)
        const refused = await examine(data, { ...env, OPENAI_API_KEY: 'bad-key-0123' })
        assert.equal(refused.code, 1)
        assert.match(refused.stdout, /^✗ models: .* refuses OPENAI_API_KEY \(401\)$/m)
        assert.ok(!refused.stdout.includes('bad-key'))
      } finally {
        provider.close()
      }
    },
  )

  verifies('running/doctor', 'asks each cloud for a model, and has its words', async () => {
    const apiKey = 'bedrock-key-0123456789'
    await using bedrock = await startStub(bedrockDialect({ apiKey }))
    bedrock.replies({ blocks: [{ type: 'text', pieces: ['OK'] }], stop: 'end_turn' })
    const cloud = { type: 'bedrock', region: 'eu-central-1', base_url: bedrock.url }
    const data = await made('clouds')
    const { code, stdout } = await examine(data, {
      EGRESS_ALLOW_PRIVATE: '127.0.0.0/8',
      AWS_EC2_METADATA_DISABLED: 'true',
      MODEL_PROVIDERS: JSON.stringify({
        good: { ...cloud, api_key: apiKey },
        bad: { ...cloud, api_key: 'another-key-0123456789' },
        nobody: cloud,
        odd: { ...cloud, api_key: apiKey, models: ['house-*'] },
      }),
    })
    assert.equal(code, 1)
    assert.match(stdout, /^✓ models: good answers as claude-haiku-4-5, there eu\.anthropic\./m)
    assert.match(stdout, /^✗ models: bad does not answer .*make sure your API Key is valid/m)
    assert.match(stdout, /^✗ models: nobody does not answer .*gave no credential: .*credential/im)
    assert.match(stdout, /^! models: odd serves none of the models that are known/m)
    assert.ok(!stdout.includes(apiKey) && !stdout.includes('another-key'))
  })

  verifies('running/doctor', 'names a folder that nothing can be written to', async () => {
    const data = join(await made('file'), 'no-folder')
    await chmod(join(folder, 'file'), 0o500)
    const { code, stdout } = await examine(join('/proc', 'steward'), { SANDBOX_DIR: data })
    assert.equal(code, 1)
    assert.match(stdout, /^✗ disk: nothing can be written below \/proc\/steward \(DATA_DIR\)/m)
  })

  verifies('running/doctor', 'a server says the same of its folder as it starts', async () => {
    const file = join(await made('no-folder'), 'steward.json')
    await writeFile(file, '{}')
    const { code, stderr } = await runServer([], { DATA_DIR: file })
    assert.equal(code, 1)
    assert.match(
      stderr,
      /^Steward stopped: .*\/steward\.json cannot be written \(EEXIST\): give the account/m,
    )
    const database = { DATABASE_URL: await postgresServer() }
    const data = { DATA_DIR: join(folder, 'written') }
    const store = (dir: string) => JSON.stringify({ blobs: { type: 'disk', dir } })
    const unwritable: Record<string, string>[] = [
      { DATA_DIR: '/proc/steward' },
      { DATA_DIR: '/proc/steward/x', ...database },
      { ...data, SANDBOX_DIR: '/proc/steward' },
      { ...data, STORE_BACKENDS: store('/proc/steward') },
    ]
    for (const env of unwritable) {
      const { code, stderr } = await runServer([], { SANDBOX_PROVIDER: 'local', ...env })
      assert.equal(code, 1)
      assert.match(
        stderr,
        /^Steward stopped: \/proc\/steward(\/x)? cannot be written \(ENOENT\): give the account .* by [A-Z_]+$/m,
      )
    }
  })
})
