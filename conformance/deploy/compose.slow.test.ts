/** The folder that `init` writes: Compose reads it, and nothing in it is lost or shown. No image is started here. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { listSettings } from '@steward/base/settings/setting.ts'
import { serverProgram } from '@steward/server/ground/config/settings.ts'
import { Ajv } from 'ajv'
import { parse } from 'yaml'
import { z } from 'zod'
import { runServer } from '../process.ts'
import { chart, readDefaults, refuseValues } from './chart.ts'

const run = promisify(execFile)
const compose = '/usr/bin/docker-compose'

/** The schema of the Compose specification, which this package ships. */
const schemaFile = new URL(
  'schemas/compose.schema.json',
  import.meta.resolve('dclint/package.json'),
)

const Service = z.looseObject({
  image: z.string(),
  environment: z.record(z.string(), z.string()).default({}),
  secrets: z.array(z.string()).default([]),
  security_opt: z.array(z.string()).default([]),
  cap_drop: z.array(z.string()).default([]),
  read_only: z.boolean().default(false),
  ports: z.array(z.string()).default([]),
})
const Document = z.record(z.string(), z.unknown())
const ComposeFile = z.looseObject({
  services: z.record(z.string(), Service),
  secrets: z.record(z.string(), z.object({ file: z.string() })),
})

/** As docker-compose prints it, with variables filled in. */
const ComposeConfig = z.looseObject({
  services: z.record(
    z.string(),
    z.looseObject({ environment: z.record(z.string(), z.string()).default({}) }),
  ),
})

describe('the folder for docker compose', () => {
  let parent: string
  let folder: string
  let printed: string
  before(async () => {
    parent = mkdtempSync(join(tmpdir(), 'steward-compose-'))
    folder = join(parent, 'steward')
    printed = (await init('--domain', 'steward.example.com')).stdout
  })
  after(() => rmSync(parent, { recursive: true, force: true }))

  const init = (...words: string[]) => runServer(['init', '--folder', folder, ...words], {})
  const read = (name: string) => readFileSync(join(folder, name), 'utf8')
  const secret = (name: string) => read(`secrets/${name}`).trim()
  const names = () => readdirSync(join(folder, 'secrets'))
  const composeFile = () => ComposeFile.parse(parse(read('compose.yaml'), { merge: true }))

  it('is one that the schema of the Compose specification accepts', () => {
    const ajv = new Ajv({ strict: false, validateFormats: false })
    const { $schema: _, ...schema } = Document.parse(JSON.parse(readFileSync(schemaFile, 'utf8')))
    const accepts = ajv.compile(schema)
    for (const name of ['compose.yaml', 'compose.override.yaml']) {
      const file = Document.parse(parse(read(name), { merge: true }))
      assert.ok(accepts(file), ajv.errorsText(accepts.errors))
      assert.equal(accepts({ ...file, service: {} }), false)
    }
  })

  it('is one that docker-compose reads, with NATS and without', async () => {
    assert.ok(existsSync(compose), `${compose} is missing: apt-get install docker-compose`)
    const words = ['--profile', 'nats', 'config']
    const { stdout } = await run(compose, words, { cwd: folder })
    const { services } = ComposeConfig.parse(parse(stdout))
    assert.equal(services['server']?.environment['PUBLIC_URL'], 'https://steward.example.com')
    assert.equal(services['server'].environment['BUS_URL_FILE'], '')
    await run(compose, ['config', '--quiet'], { cwd: folder })
  })

  it('has secrets of its own, which nobody else on the machine can read and no text shows', () => {
    assert.equal(statSync(join(folder, 'secrets')).mode & 0o777, 0o700)
    assert.equal(statSync(join(folder, '.env')).mode & 0o777, 0o600)
    const texts = [printed, read('.env'), read('compose.yaml')].join('\n')
    for (const name of [
      'root-secret',
      'api-key',
      'database-password',
      'bucket-key',
      'bus-password',
    ]) {
      assert.match(secret(name), /^(stw_key_)?[0-9a-f]{64}$/)
      assert.ok(!texts.includes(secret(name)), name)
    }
    assert.equal(new Set(names().map(secret)).size, names().length)
  })

  it('gives the containers every secret as a file, and none as a variable', () => {
    const { services, secrets } = composeFile()
    for (const [name, { file }] of Object.entries(secrets)) {
      assert.equal(file, `./secrets/${name}`)
      assert.ok(names().includes(name), name)
    }
    const known = new Set(listSettings(serverProgram.settings).map(({ name }) => name))
    for (const [name, service] of Object.entries(services)) {
      for (const each of service.secrets) assert.ok(each in secrets, each)
      if (!service.image.includes('/steward')) continue
      for (const [variable, value] of Object.entries(service.environment)) {
        const setting = variable.replace(/_FILE$/, '')
        assert.ok(known.has(setting) || setting === 'MODEL', `${name}: ${variable}`)
        const [, file] = /^\/run\/secrets\/(.*)/.exec(value) ?? []
        if (variable.endsWith('_FILE')) assert.ok(file ?? value === '${STEWARD_BUS_URL_FILE:-}')
        else assert.equal(refuseValues({ settings: { [variable]: value } }), undefined)
        if (file !== undefined) assert.ok(service.secrets.includes(file), `${name}: ${file}`)
      }
    }
  })

  it('holds settings that the server reads, with NATS and without', async () => {
    const { server } = composeFile().services
    assert.ok(server)
    const files = Object.entries(server.environment)
      .filter(([name]) => name.endsWith('_FILE'))
      .map(([name, path]) => [name, path.replace('/run', folder)])
    for (const bus of ['', join(folder, 'secrets/bus-url')]) {
      const given = { ...Object.fromEntries(files), BUS_URL_FILE: bus }
      const none = { PLATFORM_ROOT_SECRET: undefined, API_KEY: undefined }
      const { code, stdout, stderr } = await runServer(['config', 'check'], { ...given, ...none })
      assert.equal(code, 0, stdout + stderr)
    }
    assert.ok(secret('database-url').includes(`:${secret('database-password')}@database:`))
    assert.ok(secret('bucket-identities').includes(secret('bucket-key')))
  })

  it('holds a configuration that NATS accepts', async () => {
    const file = join(folder, 'secrets/bus-config')
    const { stderr } = await run('nats-server', ['--config', file, '-t'], {
      env: { PATH: '/usr/sbin:/usr/bin:/usr/local/bin' },
    })
    assert.match(stderr, /is valid/)
  })

  it('lets nothing but the proxy be reached, and the server isolate its sandboxes', () => {
    const { services } = composeFile()
    const open = Object.entries(services).filter(([, { ports }]) => ports.length > 0)
    assert.deepEqual(
      open.map(([name]) => name),
      ['proxy'],
    )
    const { server } = services
    assert.ok(server?.read_only)
    assert.deepEqual(server.cap_drop, ['ALL'])
    assert.ok(server.security_opt.includes('no-new-privileges:true'))
    assert.ok(server.security_opt.includes('systempaths=unconfined'))
    assert.ok(!('SANDBOX_PROVIDER' in server.environment))
  })

  it('has the image of this version, as the chart has', () => {
    const { image } = z
      .looseObject({ image: z.object({ repository: z.string() }) })
      .parse(readDefaults())
    assert.ok(
      composeFile().services['server']?.image.includes(
        `:-${image.repository}:${chart.appVersion}}`,
      ),
    )
  })

  it('stays as it is when it is written again', async () => {
    const before = names().map(secret)
    const { stdout, code } = await init()
    assert.equal(code, 0)
    assert.doesNotMatch(stdout, /^(wrote|replaced|made)/m)
    assert.deepEqual(names().map(secret), before)
  })

  it('gets again what was removed, with the secrets that are there', async () => {
    const url = secret('database-url')
    rmSync(join(folder, 'secrets/database-url'))
    const { stdout } = await init()
    assert.match(stdout, /^wrote .*database-url \(0644\)$/m)
    assert.equal(secret('database-url'), url)
  })

  it('keeps what the operator has changed, but for compose.yaml in an upgrade', async () => {
    const own = 'services:\n  server:\n    mem_limit: 4g\n'
    writeFileSync(join(folder, 'compose.override.yaml'), own)
    writeFileSync(join(folder, 'compose.yaml'), '# of an older version\n')
    assert.match((await init()).stdout, /^kept as it is .*compose\.yaml$/m)
    assert.equal(read('compose.yaml'), '# of an older version\n')
    const { stdout } = await init('--upgrade')
    assert.match(stdout, /^replaced .*compose\.yaml/m)
    assert.match(stdout, /^kept as it is .*compose\.override\.yaml$/m)
    assert.equal(read('compose.override.yaml'), own)
    assert.ok(composeFile().services['server'])
  })

  it('is only shown by --print', async () => {
    const other = join(parent, 'other')
    const { stdout } = await runServer(
      ['init', '--print', '--folder', other, '--domain', 'localhost'],
      {},
    )
    assert.match(stdout, /^would write .*root-secret \(0644\)$/m)
    assert.ok(!existsSync(other))
  })

  it('needs a domain, and secrets that are closed to others', async () => {
    const refusal = async (...words: string[]) => {
      const { code, stderr } = await runServer(['init', ...words], {})
      assert.notEqual(code, 0)
      return stderr
    }
    const other = join(parent, 'another')
    assert.match(await refusal('--folder', other), /init needs --domain, such as --domain/)
    assert.match(
      await refusal('--folder', other, '--domain', 'https://x'),
      /--domain must be the name/,
    )
    chmodSync(join(folder, 'secrets'), 0o755)
    assert.match(await refusal('--folder', folder), /secrets is open to others: chmod 700/)
    chmodSync(join(folder, 'secrets'), 0o700)
  })
})
