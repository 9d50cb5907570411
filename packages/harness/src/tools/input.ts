/** Whether an input fits its tool. Each schema is compiled once. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { ValidateFunction } from 'ajv/dist/2020.js'
import type { Tool } from './tool.ts'

// Every schema that is checked here is ours (`Tool.input`): to check these too takes 45 ms of each start.
const ajv = new Ajv2020({
  strict: false,
  validateSchema: false,
  validateFormats: false,
  logger: false,
})
const validators = new WeakMap<object, ValidateFunction>()
const anything = ajv.compile({})

/** What is wrong with the input, in words the model can act on. */
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
    // A schema that makes no sense checks nothing: its tool has to.
  } finally {
    // The library keeps every schema it has seen, and takes no id twice.
    ajv.removeSchema(schema)
  }
  validators.set(schema, validate)
  return validate
}
