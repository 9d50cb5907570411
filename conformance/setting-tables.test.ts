import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { Ajv } from 'ajv'
import { listSettings } from '@steward/base/settings/setting.ts'
import { parseSettings } from '@steward/base/settings/settings-file.ts'
import { settingsSchema } from '@steward/base/settings/settings-schema.ts'
import { serverProgram } from '@steward/server/ground/config/settings.ts'
import { workerSettings } from '@steward/worker/settings.ts'
import { parse } from 'yaml'
import { documents, generatedFiles, withTables } from './setting-tables.ts'

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')

describe('the tables of settings', () => {
  for (const { path, program } of documents)
    it(`in ${path} say what the declarations say (else: node scripts/settings.ts)`, () => {
      const document = read(path)
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

describe('the schema and the example of a settings file', () => {
  for (const { path, text } of generatedFiles)
    it(`are in ${path} (else: node scripts/settings.ts)`, () => {
      assert.equal(read(path), text)
    })

  for (const [example, program] of [
    ['docs/steward.example.yaml', serverProgram],
    ['docs/worker.example.yaml', workerSettings],
  ] as const) {
    const all = listSettings(program.settings)
    const given = read(example).replaceAll(/^#(?=\w)/gm, '')

    it(`agree: ${example} holds every setting in a form that is read`, () => {
      assert.deepEqual(parseSettings('example', read(example), all).entries, [])
      const file = parseSettings('example', given, all)
      assert.deepEqual(file.problems, [])
      const values = new Map(file.entries.map(({ setting, value }) => [setting.name, value]))
      for (const setting of all) {
        const value = values.get(setting.name)
        if (!value || 'path' in value) continue
        assert.deepEqual(setting.read({ [setting.name]: value.text }).ok, true, setting.name)
      }
      const keys = Object.keys(parse(given) as object)
      assert.equal(keys.length, all.length)
    })

    it(`agree: ${example} has the schema that it names`, () => {
      const validate = new Ajv({ allowUnionTypes: true, strictTuples: false }).compile(
        settingsSchema(program),
      )
      validate(parse(given))
      assert.deepEqual(validate.errors, null)
      assert.ok(validate(null) && validate({}))
      assert.ok(!validate({ fish: 1 }))
    })
  }
})
