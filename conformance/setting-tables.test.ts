import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { documents, withTables } from './setting-tables.ts'

describe('the tables of settings', () => {
  for (const { path, program } of documents)
    it(`in ${path} say what the declarations say (else: node scripts/settings.ts)`, () => {
      const document = readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')
      assert.equal(document, withTables(document, program))
      const [setting] = Object.keys(program.settings)
      const { [setting ?? '']: _left, ...others } = program.settings
      assert.notEqual(document, withTables(document, { ...program, settings: others }))
    })

  it('are refused where a document has no markers', () => {
    for (const { program } of documents)
      assert.throws(() => withTables('# Settings\n', program), /needs <!-- settings/)
  })
})
