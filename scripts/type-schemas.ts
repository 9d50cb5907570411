/** JSON Schemas of the types of a package, and the file that holds them. */
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createGenerator } from 'ts-json-schema-generator'

/** `entry`: a module that exports the type `Answers`, an object with a field for each type. */
export function schemasOfEntry(entry: string, additionalProperties: boolean) {
  const folder = mkdtempSync(join(tmpdir(), 'steward-types-'))
  try {
    const path = join(folder, 'entry.ts')
    writeFileSync(path, entry)
    const generator = createGenerator({
      path,
      type: 'Answers',
      skipTypeCheck: true,
      additionalProperties,
      jsDoc: 'none',
      topRef: false,
    })
    const { definitions = {}, properties = {} } = generator.createSchema('Answers')
    return { definitions, properties }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Writes what `schemasOf` finds in the package of the command line to its file, which appears whole. */
export function writeSchemaFile(script: string, schemasOf: (client: string) => object): void {
  const [client, file] = process.argv.slice(2)
  if (client === undefined || file === undefined)
    throw new Error(`usage: node scripts/${script} <package> <file>`)
  mkdirSync(dirname(file), { recursive: true })
  const part = `${file}.${process.pid}`
  writeFileSync(part, JSON.stringify(schemasOf(client)))
  renameSync(part, file)
}
