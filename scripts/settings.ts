// Rewrites what docs have of the settings, from the declarations of server and worker: tables, schemas and examples.
import { readFileSync, writeFileSync } from 'node:fs'
import { documents, generatedFiles, withTables } from '../conformance/setting-tables.ts'

const inRepository = (path: string) => new URL(`../${path}`, import.meta.url)

for (const { path, program } of documents) {
  const file = inRepository(path)
  writeFileSync(file, withTables(readFileSync(file, 'utf8'), program))
}
for (const { path, text } of generatedFiles) writeFileSync(inRepository(path), text)
