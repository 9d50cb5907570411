/** The package as a person gets it: packed, installed into an empty folder, and run. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { runInNewContext } from 'node:vm'
import { installSteps, isPromised } from './install-steps.ts'
import { runPacking } from './packing.ts'
import { freePort } from '@steward/server/ground/bus/direct/fixture.ts'

const run = promisify(execFile)

describe('the package', () => {
  let folder = ''
  let tarball = ''
  /** The server refuses variables that look like settings and are none, and the suite has some of its own. */
  const given = Object.entries(process.env).filter(([name]) => !name.startsWith('STEWARD_TEST_'))
  const env = { ...Object.fromEntries(given), NODE_OPTIONS: '' }
  const steward = (words: string[], variables: Record<string, string> = {}) =>
    run(join(folder, 'node_modules/.bin/steward'), words, {
      cwd: folder,
      env: { ...env, ...variables },
    })

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'steward-package-'))
    const packed = await runPacking(['pack', '--pack-destination', folder], env)
    tarball = join(folder, packed.stdout.trim().split('\n').at(-1) ?? '')
    const options = ['--prefer-offline', '--no-audit', '--no-fund']
    await run('npm', ['install', ...options, tarball], { cwd: folder, env })
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  it('is small, and holds no tests and few packages beside it', async () => {
    assert.ok(statSync(tarball).size < 12 * 1024 * 1024)
    const own = join(folder, 'node_modules/steward')
    const files = await readdir(own, { recursive: true })
    assert.deepEqual(
      files.filter((path) => /\.test\.|fixture|\.ts$/.test(path)),
      [],
    )
    const manifest = JSON.parse(readFileSync(join(own, 'package.json'), 'utf8')) as {
      dependencies: object
      scripts: object
    }
    assert.deepEqual(Object.keys(manifest.dependencies), ['@vscode/ripgrep'])
    assert.ok(!/"(pre|post)?install"/.test(JSON.stringify(manifest.scripts)))
  })

  it('names the licence of each package that it holds', () => {
    const text = readFileSync(join(folder, 'node_modules/steward/dist/THIRD-PARTY.md'), 'utf8')
    for (const name of [
      'zod',
      'kysely',
      'hono',
      '@anthropic-ai/sdk',
      'better-auth',
      'swagger-ui-dist',
    ])
      assert.match(text, new RegExp(`^## ${name} \\d.*\\n\\nLicence: \\S`, 'm'))
  })

  it('says its version and commit, and its commands as they are called here', async () => {
    assert.match(
      (await steward(['--version'])).stdout,
      /^steward \d+\.\d+\.\d+ \(commit \w+ of [\d-]+\)\n$/,
    )
    const { stdout } = await steward(['help'])
    assert.match(stdout, /^ {2}steward start {2,}start the server$/m)
    assert.doesNotMatch(stdout, /npm start/)
    assert.match((await steward(['worker', '--help'])).stdout, /^The worker: .*/)
    const { stdout: example } = await steward(['config', 'example'])
    assert.match(example, /\n# steward config check says/)
    assert.match((await steward(['worker', 'config', 'schema'])).stdout, /"worker_dir"/)
  })

  it('finds each of its files and programs', async () => {
    const code = join(folder, 'node_modules/steward/dist/code')
    const names = (await readdir(code)).filter((name) => name.endsWith('.mjs'))
    for (const name of names) {
      const text = readFileSync(join(code, name), 'utf8')
      assert.doesNotMatch(text, /new URL\("\.\/[\w./-]+\.ts"/, name)
      for (const [, path = ''] of text.matchAll(
        /new URL\(["']\.\/([\w-]+\.mjs)["'], ?import\.meta\.url/g,
      ))
        assert.ok(names.includes(path), `${name} needs ${path}`)
    }
    assert.ok(names.includes('official-worker.mjs'))
  })

  it('says on an older Node what to do', () => {
    const program = readFileSync(join(folder, 'node_modules/steward/dist/bin/steward.cjs'), 'utf8')
    const written: string[] = []
    const exit = (code: number) => {
      throw new Error(`exit ${code}`)
    }
    const process = {
      version: 'v18.0.0',
      versions: { node: '18.0.0' },
      stderr: { write: (text: string) => written.push(text) },
      exit,
    }
    assert.throws(() => runInNewContext(program.replace(/^#!.*/, ''), { process }), /exit 1/)
    assert.match(
      written.join(''),
      /^steward: Node 24 or newer is needed, and this is v18\.0\.0: .*\n$/,
    )
  })

  it('writes a folder for docker compose, and the systemd unit that starts the package', async () => {
    const made = join(folder, 'compose')
    await steward(['init', '--folder', made, '--domain', 'steward.example.com'])
    assert.deepEqual((await readdir(made)).toSorted(), [
      '.env',
      'compose.override.yaml',
      'compose.yaml',
      'seccomp.json',
      'secrets',
    ])
    const { stdout } = await steward(['install-service', '--print', '--url', 'https://a.example'])
    const program = join(folder, 'node_modules/.bin/steward')
    const start = `${process.execPath} --max-semi-space-size=8 ${program} start`
    assert.ok(stdout.includes(`\nExecStart=${start}\n`), stdout)
    assert.doesNotMatch(stdout, /^WorkingDirectory=/m)
  })

  it('starts a server in an empty folder, where an agent runs a program in its sandbox', async (t) => {
    const PORT = String(await freePort())
    const variables = {
      PORT,
      DATA_DIR: join(folder, 'data'),
      ANTHROPIC_API_KEY: '',
      OPENAI_API_KEY: '',
    }
    t.after(() => steward(['try', 'stop'], variables))
    const { stdout } = await steward(['try'], variables)
    assert.match(stdout, /the first ten primes: 2 3 5 7 11 13 17 19 23 29/)
    assert.match(stdout, /session\.status_idle/)
    const page = await fetch(`http://127.0.0.1:${PORT}/console/`)
    assert.equal(page.status, 200)
    for (const path of ['docs/swagger-ui-bundle.js', 'docs/', 'docs/quickstart', 'README.md']) {
      const answer = await fetch(`http://127.0.0.1:${PORT}/${path}`)
      assert.equal(answer.status, 200, path)
      await answer.body?.cancel()
    }
    assert.equal((await steward(['try', 'stop'], variables)).stdout, 'stopped\n')
  })

  it('is tried and checked by the steps of the page for coding agents, which print no secret', async (t) => {
    const PORT = String(await freePort())
    const trial = join(folder, 'trial')
    mkdirSync(trial)
    const program = `${join(folder, 'node_modules/.bin/steward')} try`
    const variables = { ...env, PORT, ANTHROPIC_API_KEY: '', OPENAI_API_KEY: '' }
    t.after(() => run('sh', ['-c', `${program} stop`], { cwd: trial, env: variables }))
    const steps = installSteps()
    assert.equal(steps.length, 5)
    const printed: string[] = []
    for (const { command, output } of steps) {
      const here = command.replaceAll('./try', program).replaceAll('8787', PORT)
      const { stdout, stderr } = await run('sh', ['-c', here], { cwd: trial, env: variables })
      assert.ok(isPromised(stdout, output), `${command}: ${stdout}`)
      printed.push(stdout, stderr)
    }
    const read = (name: string) => readFileSync(join(trial, name), 'utf8')
    const [, link = ''] = /signin\/invitation#(\S+)/.exec(read('try.log')) ?? []
    for (const secret of [read('data/api-key').trim(), read('data/root-secret').trim(), link]) {
      assert.ok(secret.length >= 20)
      assert.ok(!printed.join('').includes(secret))
    }
  })
})
