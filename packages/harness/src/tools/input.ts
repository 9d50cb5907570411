/** Checks whether an input fits its tool. Each schema is compiled once. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { ValidateFunction } from 'ajv/dist/2020.js'
import type { Tool } from './tool.ts'

// Only our own schemas (`Tool.input`) are checked here. Validating the schemas as well takes 45 ms at each start.
const ajv = new Ajv2020({
  strict: false,
  validateSchema: false,
  validateFormats: false,
  logger: false,
})
const validators = new WeakMap<object, ValidateFunction>()
const anything = ajv.compile({})

/** What is wrong with the input, as a sentence that the model can act on; undefined when it fits. */
export function complaint(
  { name, input_schema }: Pick<Tool, 'name' | 'input_schema'>,
  input: Record<string, unknown>,
): string | undefined {
  const validate = validators.get(input_schema) ?? compile(input_schema)
  if (validate(input)) return undefined
  const errors = ajv.errorsText(validate.errors, { dataVar: 'input' })
  return `the input does not fit the schema of ${name}: ${errors}`
}

function compile(schema: Record<string, unknown>): ValidateFunction {
  let validate = anything
  try {
    validate = ajv.compile(schema)
  } catch {
    // An invalid schema checks nothing; its tool must check the input.
  } finally {
    // The library stores every schema and accepts no id twice.
    ajv.removeSchema(schema)
  }
  validators.set(schema, validate)
  return validate
}
