/**
 * Checks whether an input fits its tool. Each schema is compiled once, and the library keeps for good what it compiled.
 */
import { runOnce } from '@steward/base/shared-runs.ts'
import type { Ajv2020, ValidateFunction } from 'ajv/dist/2020.js'
import type { Tool } from './tool.ts'

type InputChecks = { ajv: Ajv2020; anything: ValidateFunction }

const validators = new WeakMap<object, ValidateFunction>()

/** Loads the library with the first input: a process that checks no input starts without its modules. */
const loadChecks = runOnce(async (): Promise<InputChecks> => {
  const library = await import('ajv/dist/2020.js')
  // Only our own schemas (`Tool.input`) are checked here. Validating the schemas as well takes 45 ms.
  const ajv = new library.Ajv2020({
    strict: false,
    validateSchema: false,
    validateFormats: false,
    logger: false,
  })
  return { ajv, anything: ajv.compile({}) }
})

/** The problem of the input, as a sentence that the model can act on; undefined when the input fits. */
export async function inputProblem(
  { name, input_schema, sandbox }: Pick<Tool, 'name' | 'input_schema' | 'sandbox'>,
  input: Record<string, unknown>,
): Promise<string | undefined> {
  // What a tool without a sandbox is given goes into columns, which hold no such character.
  if (sandbox === 'unused' && holdsNul(input))
    return `the input of ${name} may not hold a NUL character`
  const loaded = await loadChecks()
  const validate = validators.get(input_schema) ?? compile(loaded, input_schema)
  if (validate(input)) return undefined
  const errors = loaded.ajv.errorsText(validate.errors, { dataVar: 'input' })
  return `the input does not fit the schema of ${name}: ${errors}`
}

const holdsNul = (value: unknown): boolean =>
  typeof value === 'string'
    ? value.includes('\0')
    : typeof value === 'object' && value !== null && Object.values(value).some(holdsNul)

function compile(
  { ajv, anything }: InputChecks,
  schema: Record<string, unknown>,
): ValidateFunction {
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
