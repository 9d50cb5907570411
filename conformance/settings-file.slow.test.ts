/** A server whose settings stand in a file, as an operator starts it. */
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { upstreamServer } from '@steward/server/engine/egress/fixture.ts'
import { connectProxy } from '@steward/server/ground/core/security/connect-proxy-fixture.ts'
import { runServer, startServer } from './process.ts'
import { adminKey, rootSecret } from './service.ts'

describe('a settings file', () => {
  let folder: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'steward-settings-file-'))
    await writeFile(join(folder, 'root-secret'), `${rootSecret}\n`, { mode: 0o600 })
  })
  after(() => rm(folder, { recursive: true, force: true }))

  /** The variables that `startServer` sets by itself are left to the file. */
  const unset = {
    ...{ PLATFORM_ROOT_SECRET: undefined, API_KEY: undefined },
    ...{ PORT: undefined, RATE_LIMITS: undefined },
  }
  async function settings(lines: readonly string[]) {
    const path = join(folder, 'steward.yaml')
    const own = [
      `platform_root_secret_file: ${join(folder, 'root-secret')}`,
      `api_key: ${adminKey}`,
      'port: 0',
      `data_dir: ${folder}`,
      'sandbox_provider: local',
      'egress_profile: best_effort',
    ]
    await writeFile(path, [...own, ...lines].join('\n'), { mode: 0o600 })
    return { ...unset, SETTINGS_FILE: path }
  }

  it('starts a server, and the commands beside it', async () => {
    const env = await settings(['rate_limits: { reads: 2/h }'])
    await using server = await startServer(env)
    const made = await runServer(['create-workspace', 'second'], env)
    assert.equal(made.code, 0, made.stderr)
    const headers = { 'x-api-key': adminKey }
    const statuses: number[] = []
    for (let count = 0; count < 3; count++)
      statuses.push((await fetch(`${server.base}/v1/ext/api_keys`, { headers })).status)
    assert.deepEqual(statuses, [200, 200, 429])
  })

  it('is checked and shown by a command, without its secrets', async () => {
    const good = await settings([])
    const checked = await runServer(['config', 'check'], good)
    assert.deepEqual([checked.code, checked.stderr], [0, ''])
    const shown = await runServer(['config', 'show', '--json'], good)
    assert.ok(!shown.stdout.includes(rootSecret) && !shown.stdout.includes(adminKey))
    assert.match(shown.stdout, /"location": ".*steward\.yaml:4"/)
    const bad = await settings(['hosts: a', 'sandbox_cpus: many'])
    for (const args of [['config', 'check'], [], ['doctor'], ['create-workspace', 'third']]) {
      const { code, stderr } = await runServer(args, { ...bad, METRICS_PORT: 'x' })
      assert.equal(code, 1)
      assert.match(stderr, /steward\.yaml:7: hosts is not a setting.* Do you mean host\?/)
      assert.match(stderr, /steward\.yaml:8: SANDBOX_CPUS: "many" is not a number/)
      assert.match(stderr, /METRICS_PORT: "x" is not a port/)
    }
    for (const args of [['config'], ['config', 'chek'], ['config', 'check', 'more']])
      assert.equal((await runServer(args, good)).code, 2)
  })

  it('names the proxy and the authority by which the server reaches a model', async () => {
    await using upstream = await upstreamServer((_, response) => response.end('{"data": []}'))
    await using proxy = await connectProxy({ 'api.example:443': upstream.port })
    const authority = join(folder, 'authority.pem')
    await writeFile(authority, upstream.certificate)
    const model = ['openai_api_key: a-key', 'openai_base_url: https://api.example/v1']
    const lines = [...model, `https_proxy: ${proxy.url}`]
    const distrusted = await runServer(['doctor'], await settings(lines))
    assert.match(distrusted.stdout, /✗ models: api\.example does not answer: .*self-signed/)
    const trusted = [...lines, `node_extra_ca_certs: ${authority}`]
    const { stdout } = await runServer(['doctor'], await settings(trusted))
    assert.match(stdout, /✓ proxy: 127\.0\.0\.1:\d+ of HTTPS_PROXY takes connections/)
    assert.match(stdout, /✓ models: api\.example takes OPENAI_API_KEY/)
    assert.match(stdout, /✓ settings file: .* is closed to other accounts/)
  })
})
