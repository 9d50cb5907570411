import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { copies } from '../scripts/house/copies.ts'
import { circles, importsOf, upwards } from '../scripts/house/imports.ts'
import { participles, sharedNames, typesOf } from '../scripts/house/names.ts'
import { matches, rowCasts, splitLiterals } from '../scripts/house/patterns.ts'
import { scatteredSettings } from '../scripts/house/settings.ts'
import type { Source } from '../scripts/house/sources.ts'

const source = (path: string, ...lines: string[]): Source => ({
  path,
  text: `${lines.join('\n')}\n`,
  lines,
  isTest: false,
})
const server = 'packages/server/src'

describe('a measure of the house', () => {
  it('counts an import that goes up or sideways, by the floors of the import rules', () => {
    const imports = (from: string, to: string) =>
      upwards(importsOf([source(from, `import { a } from '${to}'`)])).length
    assert.equal(imports(`${server}/ground/http/a.ts`, '../../sessions/log/log.ts'), 1)
    assert.equal(imports(`${server}/resources/agents/a.ts`, '../vaults/store.ts'), 1)
    assert.equal(imports('packages/gate/src/a.ts', '@steward/harness/turn.ts'), 1)
    assert.equal(imports(`${server}/sessions/log/a.ts`, '../../ground/http/route.ts'), 0)
    assert.equal(imports(`${server}/sessions/log/a.ts`, '@steward/gate/gate.ts'), 0)
  })

  it('counts the imports on a circle and none beside it', () => {
    const ring = [
      source('packages/base/src/a.ts', "import './b.ts'"),
      source('packages/base/src/b.ts', "import { c } from './c.ts'"),
      source('packages/base/src/c.ts', "export type { A } from './a.ts'", "import './d.ts'"),
      source('packages/base/src/d.ts'),
    ]
    assert.equal(circles(importsOf(ring)).length, 3)
    assert.equal(circles(importsOf(ring.slice(1))).length, 0)
  })

  it('counts names of types that several files export, and those that are a participle alone', () => {
    const types = typesOf([
      source('packages/a/src/a.ts', 'export type View = 1', 'type Row = 1', 'type Asked = 1'),
      source('packages/a/src/b.ts', 'export interface View {}', 'export type Row = 2'),
      source('packages/a/src/c.ts', 'export const View = 1', 'export type KeptFile = 2'),
    ])
    assert.deepEqual(sharedNames(types), ['View: packages/a/src/a.ts packages/a/src/b.ts'])
    assert.deepEqual(participles(types), ['packages/a/src/a.ts: Asked'])
  })

  it('counts casts and spread literals where they stand', () => {
    const text = [
      'const a = JSON.parse(row.a) as Thing',
      'const b = JSON.parse(String(read(row.b ?? "[]")))',
      '  as Other[]',
      'const c = JSON.parse(text) as unknown',
      'const d = { ...{ a, b }, ...rest }',
    ]
    const one = [source('packages/a/src/a.ts', ...text)]
    const lines = (pattern: RegExp) => matches(one, pattern).map((place) => place.split(':')[1])
    assert.deepEqual(lines(rowCasts), ['1', '2'])
    assert.deepEqual(lines(splitLiterals), ['5'])
  })

  it('counts a run of six lines that stands twice once, as long as it is', () => {
    const run = ['a(1)', 'b(2)', '}', '', '// why', 'c(3)', 'd(4)', 'e(5)', 'f(6)', 'g(7)']
    const found = copies([
      source('packages/a/src/a.ts', "import { a } from './x.ts'", ...run, 'only(here)'),
      source('packages/a/src/b.ts', 'first(line)', ...run.map((line) => `    ${line}`)),
    ])
    assert.deepEqual(found, ['packages/a/src/a.ts:2-11 ~ packages/a/src/b.ts:2-11'])
    assert.deepEqual(
      copies([source('a.ts', ...run.slice(0, 8)), source('b.ts', ...run.slice(0, 8))]),
      [],
    )
  })

  it('counts settings that a second file names, whether as text, as a key or as a member', () => {
    const declared = source(
      'packages/a/src/settings.ts',
      "setting('SEND_HINTS', flag), setting(\n  'DATA_DIR', text)",
    )
    for (const line of ["read('DATA_DIR')", '{ DATA_DIR: folder }', 'env.DATA_DIR'])
      assert.equal(
        scatteredSettings([declared, source('packages/a/src/config.ts', line)]).length,
        1,
      )
    for (const text of ['set DATA_DIR to a folder', 'another DATA_DIR: give one of its own']) {
      const message = source('packages/a/src/main.ts', `throw new Error('${text}')`)
      assert.equal(scatteredSettings([declared, message]).length, 0, text)
    }
  })

  it('counts no variable that another program has by the name of a setting', () => {
    const variable = 'env: { PORT: port }'
    const inWorker = source('packages/worker/src/child.ts', variable)
    const inServer = source('packages/server/src/main.ts', variable)
    const inBoth = source('packages/base/src/listen.ts', variable)
    const ofServer = source('packages/server/src/settings.ts', "setting('PORT', port)")
    assert.deepEqual(scatteredSettings([ofServer, inWorker]), [])
    assert.equal(scatteredSettings([ofServer, inServer]).length, 1)
    assert.equal(scatteredSettings([ofServer, inBoth]).length, 1)
    const ofBoth = source('packages/sandbox/src/settings.ts', "setting('PORT', port)")
    assert.equal(scatteredSettings([ofBoth, inWorker]).length, 1)
  })
})
