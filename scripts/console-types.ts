/** Writes the types of the console's requests, after a change of the interface or of the requests. */
import { writeFileSync } from 'node:fs'
import { consoleTypes, typesFile } from './console/types.ts'

writeFileSync(typesFile, await consoleTypes())
