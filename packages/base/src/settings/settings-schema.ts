/** The JSON Schema of a settings file, by which editors complete and check it. */
import type { SettingsProgram } from './program.ts'
import { settingSentence } from './program.ts'
import type { FileForm, SettingSchema, Setting, SettingsTree } from './setting.ts'
import { fileKey, listSettings, secretFileKey } from './setting.ts'

const texts = { type: 'string' }
/** YAML reads an id of digits as a number. */
const plainText: FileForm = { type: 'text', schema: { type: ['string', 'number'] } }

function withoutDialect(schema: SettingSchema): SettingSchema {
  const { $schema: _dialect, ...others } = schema
  return others
}

/** What a file may hold for a setting, besides nothing. */
function formsOf({ inFile: form = plainText }: Setting<unknown>): SettingSchema[] {
  switch (form.type) {
    case 'text':
      return [form.schema]
    case 'list':
      return [{ type: 'array', items: form.schema ?? texts }, texts]
    case 'map':
      return [
        { type: 'object', additionalProperties: texts },
        { type: 'array', items: texts },
        texts,
      ]
    case 'json':
      return [withoutDialect(form.schema()), texts]
  }
}

function propertiesOf(setting: Setting<unknown>): [string, SettingSchema][] {
  const description = settingSentence(setting)
  const nothing = { type: 'null' }
  const whole: [string, SettingSchema] = [
    fileKey(setting),
    { description, anyOf: [...formsOf(setting), nothing] },
  ]
  if (!setting.secret) return [whole]
  const path = `path of a file that holds ${fileKey(setting)}: ${description}`
  return [whole, [secretFileKey(setting), { description: path, anyOf: [texts, nothing] }]]
}

/** Draft 7, which the YAML server of editors knows. */
export const settingsSchema = ({
  what,
  settings,
}: SettingsProgram<SettingsTree>): SettingSchema => ({
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: `Settings of the ${what}`,
  type: ['object', 'null'],
  additionalProperties: false,
  properties: Object.fromEntries(listSettings(settings).flatMap(propertiesOf)),
})
