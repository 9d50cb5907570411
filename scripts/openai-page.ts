/** Writes the operations in docs/openai.md, after a change of the OpenAI surface. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { databases } from '@steward/server/ground/database/fixture.ts'
import { openaiRoutesOver } from '@steward/server/surfaces/v1/app-fixture.ts'
import { withOperations } from '../conformance/openai-page.ts'
import { root } from './house/sources.ts'

const page = join(root, 'docs/openai.md')
await using opened = await databases.sqlite()
const routes = openaiRoutesOver(opened.database)
writeFileSync(page, withOperations(readFileSync(page, 'utf8'), routes))
