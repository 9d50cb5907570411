// Rewrites the tables of settings in docs from the declarations of server and worker.
import { readFileSync, writeFileSync } from 'node:fs'
import { documents, withTables } from '../conformance/setting-tables.ts'

for (const { path, program } of documents) {
  const file = new URL(`../${path}`, import.meta.url)
  writeFileSync(file, withTables(readFileSync(file, 'utf8'), program))
}
