import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../', import.meta.url))

/** What a rule of scripts/lint.ts says about a file. */
function reports(rule: string, ...lines: string[]): string {
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
    return stdout
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The lines of a file that a rule of scripts/lint.ts reports. */
const reported = (rule: string, ...lines: string[]): number[] =>
  [...reports(rule, ...lines).matchAll(/file\.tsx:(\d+):/g)].map(([, line]) => Number(line))

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

  it('refuses a type whose name ends in a word to avoid', () => {
    const lines = reported(
      'type-names',
      'type SessionPlace = 1',
      'export interface ThreadStanding { a: 1 }',
      'class SpacesDeps {}',
      'type PlacedText = 2',
      'type Placeholder = 3',
      'type SessionRef = 4',
    )
    assert.deepEqual(lines, [1, 2, 3])
  })

  it('refuses a word to avoid in the title of a test, a suite or a case', () => {
    // Apart from its brackets, because the check of citations reads this file too.
    const verifies = 'verifies'
    const lines = reported(
      'test-titles',
      "describe('ways out of a sandbox', () => {})",
      "it('tells the runner', () => {})",
      'it.skip(`leaves nothing of ${name}`, () => {})',
      `${verifies}('a/b', 'the file is gone', () => {})`,
      "const cases = { 'takes up the work again': async () => {} }",
      "it('says how many lines `it` has', () => {})",
      'it(`names ${place}`, () => {})',
      `${verifies}('such/id', 'a telling replaces its placeholder', () => {})`,
      "const words = { 'is told': 1, told: () => {} }",
      "log('the file is gone')",
    )
    assert.deepEqual(lines, [1, 2, 3, 4, 5])
  })

  it('names the word to avoid and the words to say', () => {
    const title = reports('test-titles', "it('has such a file', () => {})")
    assert.match(title, /Avoid "such" in a title: the noun\./)
    const type = reports('type-names', 'type ThreadPlace = 1')
    assert.match(type, /ThreadPlace ends in a word to avoid: Ref, Slot, Position, Context\./)
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
