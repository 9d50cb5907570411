/** What `npm run release -- --dry-run` makes of this checkout. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { runPacking } from './packing.ts'
import { partOf } from '../scripts/release/changelog.ts'
import { otherVersions, readVersion } from '../scripts/release/versions.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const execute = promisify(execFile)
const version = readVersion()
const top = `steward-${version}`

describe('a release', () => {
  let folder: string
  let said = ''
  const make = async (name: string): Promise<string> => {
    const out = join(folder, name)
    const words = ['run', '--silent', 'release', '--', '--dry-run', '--out', out]
    said = (await runPacking(words)).stderr
    return out
  }
  let first: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'steward-test-'))
    first = await make('first')
  })
  after(() => rm(folder, { recursive: true, force: true }))

  const listOf = async (file: string) => {
    const { stdout } = await execute('tar', ['-tf', join(first, file)], { maxBuffer: 64 << 20 })
    return stdout.trim().split('\n')
  }

  it('has the package, the chart, the bill of materials, the notes and all of them for offline use', async () => {
    assert.deepEqual(
      (await readdir(first)).toSorted(),
      [
        'SHA256SUMS',
        `steward-${version}-notes.md`,
        `steward-${version}-offline.tar`,
        `steward-${version}.cdx.json`,
        `steward-${version}.tgz`,
        `steward-chart-${version}.tgz`,
      ].toSorted(),
    )
    assert.match(said, /not signed: the workflow/)
    assert.match(said, /no images: --images makes them/)
    await execute('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: first })
    const manifest = await execute('tar', [
      '-xOf',
      join(first, `${top}.tgz`),
      'package/package.json',
    ])
    assert.doesNotMatch(manifest.stdout, /"private"/, 'npm publishes it')
    assert.ok((await listOf(`steward-chart-${version}.tgz`)).includes('steward/Chart.yaml'))
    const offline = await listOf(`${top}-offline.tar`)
    for (const path of [
      `${top}.tgz`,
      `steward-chart-${version}.tgz`,
      'README.md',
      'docs/README.md',
      'deploy/seccomp.json',
    ])
      assert.ok(offline.includes(`${top}/${path}`), path)
    assert.ok(offline.some((path) => /\/npm\/vscode-ripgrep-linux-arm64-/.test(path)))
  })

  it('has the same bytes when it is made again', async () => {
    const second = await make('second')
    assert.equal(
      await readFile(join(second, 'SHA256SUMS'), 'utf8'),
      await readFile(join(first, 'SHA256SUMS'), 'utf8'),
    )
  })

  it('names each library and no machine in its bill of materials', async () => {
    const text = await readFile(join(first, `${top}.cdx.json`), 'utf8')
    const { components } = JSON.parse(text) as { components: { name: string }[] }
    const names = new Set(components.map(({ name }) => name))
    for (const name of ['hono', 'zod', '@anthropic-ai/sdk', 'better-auth', '@vscode/ripgrep'])
      assert.ok(names.has(name), name)
    assert.ok(!names.has('playwright-core'), 'tools of the tests are not in it')
    assert.ok(!text.includes(root))
  })

  it('names one version in every file that repeats it', () => {
    assert.deepEqual(otherVersions(), [])
  })
})

describe('the notes of a release', () => {
  const changelog =
    '# Changelog\n\n## 1.2.0 (2027-01-01)\n\nUpgrade: no stop, no backup.\n\n- A thing.\n\n## 1.1.0\n\n- Other.\n'

  it('are the part of the version', () => {
    assert.equal(partOf(changelog, '1.2.0'), 'Upgrade: no stop, no backup.\n\n- A thing.\n')
  })

  it('are refused where the part is missing, or does not say what an upgrade needs', () => {
    assert.throws(() => partOf(changelog, '1.3.0'), /has no part named 1\.3\.0/)
    assert.throws(() => partOf(changelog, '1.1.0'), /does not say what an upgrade needs/)
  })
})
