import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../', import.meta.url))

/** The lines of a file that a rule of scripts/lint.ts reports. */
function reported(rule: string, ...lines: string[]): number[] {
  const folder = mkdtempSync(join(tmpdir(), 'lint-'))
  try {
    const config = {
      jsPlugins: [join(root, 'scripts/lint.ts')],
      categories: { correctness: 'off' },
      rules: { [`steward/${rule}`]: 'error' },
    }
    writeFileSync(join(folder, '.oxlintrc.json'), JSON.stringify(config))
    writeFileSync(join(folder, 'file.tsx'), `${lines.join('\n')}\n`)
    const oxlint = join(root, 'node_modules/.bin/oxlint')
    const args = ['-c', '.oxlintrc.json', '--format', 'unix', 'file.tsx']
    const { stdout, stderr } = spawnSync(oxlint, args, { cwd: folder, encoding: 'utf8' })
    assert.equal(stderr, '')
    return [...stdout.matchAll(/file\.tsx:(\d+):/g)].map(([, line]) => Number(line))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

describe('a rule of this repository', () => {
  it('refuses a type that is claimed for parsed JSON', () => {
    const lines = reported(
      'no-parsed-cast',
      'const a = JSON.parse(row.a) as Thing',
      'const b: Thing = JSON.parse(row.b)',
      'const c = JSON.parse(text) as unknown',
      'const d: unknown = JSON.parse(text)',
      'const e = read(text) as Thing',
    )
    assert.deepEqual(lines, [1, 2])
  })

  it('refuses a literal that is spread where it is written', () => {
    const lines = reported(
      'no-spread-literal',
      'const a = { ...{ b, c }, ...rest }',
      "const d = [...(['e', 'f'] as const)]",
      'const g = [...some, ...(known ? [one] : [])]',
    )
    assert.deepEqual(lines, [1, 2])
  })

  it('refuses a type that is named by a participle alone', () => {
    const lines = reported(
      'type-names',
      'type Asked = 1',
      'export interface Kept { a: 1 }',
      'type KeptFile = 2',
    )
    assert.deepEqual(lines, [1, 2])
  })

  it('refuses a timer that repeats, and a look outside of the components', () => {
    assert.deepEqual(reported('no-interval', 'setInterval(f, 10)', 'setTimeout(f, 10)'), [1])
    const page = [
      'const a = <b className="x" />',
      'const c = <d style={{}} />',
      'const e = <f g="" />',
    ]
    assert.deepEqual(reported('no-style', ...page), [1, 2])
  })
})
