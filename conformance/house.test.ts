import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { copies } from '../scripts/house/copies.ts'
import { filesOfLegs } from '../scripts/house/journeys.ts'
import { sharedNames, typesOf } from '../scripts/house/names.ts'
import { scatteredSettings } from '../scripts/house/settings.ts'
import type { Source } from '../scripts/house/sources.ts'

const source = (path: string, ...lines: string[]): Source => ({
  path,
  text: `${lines.join('\n')}\n`,
  lines,
  isTest: false,
})

describe('a measure of this repository', () => {
  it('counts the files on every way of value imports from an entry to an end, and no others', () => {
    const base = 'packages/base/src'
    const sources = [
      source(`${base}/entry.ts`, "import { a } from './by-one.ts'", "import './by-two.ts'"),
      source(`${base}/by-one.ts`, "import { end } from './end.ts'", "import './beside.ts'"),
      source(`${base}/by-two.ts`, "import { end } from './end.ts'"),
      source(`${base}/typed.ts`, "import type { End } from './end.ts'"),
      source(`${base}/end.ts`, "import './below.ts'"),
      source(`${base}/beside.ts`),
      source(`${base}/below.ts`),
    ]
    const leg = (entry: string, end: string) =>
      filesOfLegs(sources, [[`${base}/${entry}.ts`, `${base}/${end}.ts`]])
    const names = (files: readonly string[]) => files.map((file) => file.slice(base.length + 1))
    assert.deepEqual(names(leg('entry', 'end').files), [
      'entry.ts',
      'by-one.ts',
      'by-two.ts',
      'end.ts',
    ])
    assert.deepEqual(leg('typed', 'end'), {
      files: [],
      lost: [`${base}/typed.ts does not reach ${base}/end.ts`],
    })
  })

  it('counts names of types that several files export', () => {
    const types = typesOf([
      source('packages/a/src/a.ts', 'export type View = 1', 'type Row = 1', 'type Asked = 1'),
      source('packages/a/src/b.ts', 'export interface View {}', 'export type Row = 2'),
      source('packages/a/src/c.ts', 'export const View = 1', 'export type KeptFile = 2'),
    ])
    assert.deepEqual(sharedNames(types), ['View: packages/a/src/a.ts packages/a/src/b.ts'])
  })

  it('counts a run of six lines that occurs twice once, with its whole length', () => {
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
    const inSandbox = source('packages/sandbox/src/egress/variables.ts', variable)
    assert.deepEqual(scatteredSettings([ofServer, inSandbox]), [])
    const ofBoth = source('packages/sandbox/src/settings.ts', "setting('PORT', port)")
    assert.equal(scatteredSettings([ofBoth, inWorker]).length, 1)
  })
})
